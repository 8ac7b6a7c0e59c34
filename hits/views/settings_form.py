"""The form of a stage's settings: it reads what a person typed; `hits.flow.setup.stage_settings` judges it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cached_property
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString

from hits.domain import further_answers
from hits.domain.own_qualifications import INVITED, POOR_QUALITY
from hits.flow.setup.stage_settings import StageSetting
from hits.forms import MoneyField
from hits.models import Stage
from hits.protocols.base import SettingsRefusedError
from hits.quality.blocking import MEASURES, Policy
from hits.recipes.spec import GUARDS, INTEGER_QUALIFICATIONS, LOCALE
from hits.templatetags.figures import duration
from hits.views import words

# What is asked of a qualification of the project's own, whatever stands in the values.
_WITHOUT_VALUES = {"Exists": "held", "DoesNotExist": "not held"}
UNITS = {1: "seconds", 60: "minutes", 3600: "hours", 86_400: "days"}
MOST_REQUIREMENTS = 10
# Of a long questionnaire, in the help of a field.
MOST_UNITS = 12
_GUARD_WORDS = {
    "Accept": "to accept",
    "PreviewAndAccept": "to look and accept",
    "DiscoverPreviewAndAccept": "to find, look and accept",
}
_QUALITY = {
    "check_every": ("Check after every", "compared answers"),
    "min_answers": ("Answers that a worker must have given at least", "compared answers"),
    "floor": (
        "Floor: the share of right answers, or of what the measure counts, below which a worker is named",
        "above 0 and below 1",
    ),
    "alpha": ("Significance of the test against the crowd", "p-value, above 0 and below 1"),
}
LABELS = {
    "title": "Name of the stage",
    "answers": "Answers an item",
    "most_answers": "Most answers an item",
    "enough": "An item has enough answers when",
    "items_per_hit": "Items a HIT",
    "gold_share": "Share of check questions",
    "reward": "Reward for an answer, $",
    "expected_seconds": "Time that an answer is expected to take",
    "assignment_seconds": "Time for an assignment",
    "lifetime_seconds": "Time that a HIT stays open",
    "approval": "Approval",
    "auto_approval_seconds": "Approved by itself after",
    "hit_title": "Title",
    "hit_description": "Description",
    "keywords": "Keywords",
    "requirements": "Requirements",
    "asks_other_workers_than": "Other workers than in",
    "quality": "Blocking policy",
    "draws": "Items of a draw",
    "grants": "Qualification for everybody who has answered here",
    "screening_share": "Test: share that has to be right",
    "practice_items": "Test: items to practise on before it",
    "screening_retries": "Test: tries after a failed one",
    "screening_hours": "Test: hours until another try",
}
HELP = {
    "answers": "The rule of votes counts them.",
    "most_answers": "0: every item gets as many as that. Else an item gets one answer more, up to so many, until it "
    "has enough. The budget holds the price of the most.",
    "enough": "Such as: at least 2 agree on choice; or: confidence choice >= 0.9. A condition in the language "
    "of the vote rule.",
    "items_per_hit": "A worker answers so many, one after another. Reward, description and times are of all together.",
    "gold_share": "Of the answers that are bought, 0 to 0.5. Above 0, rows with a known answer are no data.",
    "expected_seconds": "The hourly wage is reckoned with it until times are measured. Empty: as the description says.",
    "assignment_seconds": "From accepting to submitting; the HIT goes to somebody else after it.",
    "lifetime_seconds": "It closes after that, answered or not. “Extend” keeps open HITs open for longer.",
    "auto_approval_seconds": "What nobody has approved or rejected by then is approved and paid.",
    "hit_title": "Workers choose by it in the marketplace's list; each stage has its own.",
    "hit_description": "Two sentences for the list: what is done, and how long it takes.",
    "keywords": "Commas between them.",
    "asks_other_workers_than": "Item by item: who answered it, or what it was made from, in one of these.",
    "quality": "Workers who answer much worse than the crowd are named.",
    "draws": "How many a draw brings unless another number is typed; 0: nothing is drawn.",
    "grants": "Lower-case words joined by hyphens, such as part-one; empty: none. Of a test it has the percentage.",
    "screening_share": "0: the stage is no test. Else its items are those with a known answer, and who has this share "
    "of a HIT's items right passes, such as 0.75.",
    "practice_items": "Shown first to each worker, with what was right. They are part of the HIT and its reward.",
    "screening_retries": "0: who has failed cannot take it again.",
    "screening_hours": "1 to 720, counted from the failed one.",
}


class DurationWidget(forms.MultiWidget):
    """A number and its unit."""

    def __init__(self) -> None:
        number = forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"})
        super().__init__([number, forms.Select(choices=list(UNITS.items()), attrs={"aria-label": "Unit"})])

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        return format_html('<span class="duration">{}</span>', super().render(name, value, attrs, renderer))

    def id_for_label(self, id_: str, index: Any = None) -> str:
        """Of the number: the unit has a name of its own."""
        return f"{id_}_0"

    def decompress(self, value: int | None) -> list[Any]:
        """In the largest unit that divides it."""
        if not value:
            return [value, 1]
        unit = max(one for one in UNITS if value % one == 0)
        return [value // unit, unit]


class DurationField(forms.MultiValueField):
    """Whole seconds, typed as a number and a unit; None where no number is typed."""

    def __init__(self, **options: Any) -> None:
        number = forms.IntegerField(min_value=0, max_value=10**9, required=False)
        unit = forms.TypedChoiceField(coerce=int, choices=list(UNITS.items()))
        super().__init__(
            fields=[number, unit], widget=DurationWidget(), require_all_fields=False, required=False, **options
        )

    def compress(self, values: list[Any]) -> int | None:
        number, unit = values or (None, 1)
        return None if number is None else number * unit


class RequirementForm(forms.Form):
    """One row; without a qualification it is none."""

    qualification = forms.ChoiceField(required=False, label="Qualification")
    comparator = forms.ChoiceField(
        required=False,
        label="Comparison",
        choices=[(name, said or "equal to") for name, said in words.COMPARATORS.items()]
        + list(_WITHOUT_VALUES.items()),
    )
    values = forms.CharField(required=False, label="Values", max_length=500)
    guards = forms.ChoiceField(required=False, label="Needed", choices=[(one, _GUARD_WORDS[one]) for one in GUARDS])

    def __init__(self, *args: Any, known: Iterable[str] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["comparator"].initial, self.fields["guards"].initial = "GreaterThanOrEqualTo", "PreviewAndAccept"
        names = [("", "–"), *((name, _qualification(name)) for name in known)]
        self.fields["qualification"].choices = names  # type: ignore[attr-defined]

    @property
    def given(self) -> dict[str, Any] | None:
        """As `stages.toml` writes it."""
        read = self.cleaned_data
        if not read.get("qualification"):
            return None
        values = [value.strip() for value in read["values"].replace("%", "").split(",") if value.strip()]
        head = {name: read[name] for name in ("qualification", "comparator", "guards")}
        if not values or read["comparator"] in _WITHOUT_VALUES:
            return head
        if read["qualification"] == LOCALE:
            return head | {"locales": [value.upper() for value in values]}
        return head | {"integers": [int(value) if value.isascii() and value.isdigit() else value for value in values]}


def _qualification(name: str) -> str:
    said = words.NAMES.get(name, f"“{name}”")
    return said[0].upper() + said[1:]


def _row(requirement: Mapping[str, Any]) -> dict[str, Any]:
    values = [str(value) for value in (*requirement.get("integers", ()), *requirement.get("locales", ()))]
    return {**requirement, "values": ", ".join(values)}


class SettingsForm(forms.Form):
    """All settings; those that are fixed are shown and not read."""

    def __init__(self, stage: Stage, settings: Iterable[StageSetting], data: QueryDict | None = None) -> None:
        self.stage = stage
        self.settings = {setting.name: setting for setting in settings}
        initial: dict[str, Any] = {name: setting.value for name, setting in self.settings.items()}
        initial["expected_seconds"] = initial["expected_seconds"] or None
        initial["has_policy"] = bool(stage.quality)
        policy = Policy.from_dict(stage.quality) if stage.quality else Policy()
        initial |= {f"quality_{name}": value for name, value in asdict(policy).items()}
        initial |= {name: getattr(stage, name) for name in ("auto_publish", "auto_block")}
        super().__init__(data, initial=initial)
        fields = self._all_fields()
        open_ones = {name for name, setting in self.settings.items() if setting.when != "fixed"}
        self.fields.update({name: field for name, field in fields.items() if name in open_ones})
        self._add_policy()
        self.fields["auto_block"] = forms.BooleanField(required=False, label="Block those workers by itself")
        self.fields["auto_publish"] = forms.BooleanField(
            required=False, label="Items that arrive from the stage before go out by themselves"
        )
        rows = forms.formset_factory(RequirementForm, extra=1, max_num=MOST_REQUIREMENTS, absolute_max=20)
        asked = [_row(one) for one in stage.requirements]
        known = {"known": self._qualifications()}
        self.requirements = rows(data, initial=asked, prefix="requirement", form_kwargs=known)

    def _all_fields(self) -> dict[str, forms.Field]:
        def text(name: str, rows: int = 1) -> forms.Field:
            widget = forms.Textarea(attrs={"rows": rows}) if rows > 1 else forms.TextInput()
            return forms.CharField(required=False, widget=widget, **_said(name))

        def number(name: str) -> forms.Field:
            widget = forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"})
            return forms.IntegerField(min_value=0, max_value=10**9, widget=widget, **_said(name))

        earlier = self.stage.project.stages.filter(crowd=True, position__lt=self.stage.position)
        return {
            "title": text("title"),
            "answers": number("answers"),
            "most_answers": number("most_answers"),
            "enough": self._condition(),
            "items_per_hit": number("items_per_hit"),
            "gold_share": forms.FloatField(
                required=False,
                widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
                **_said("gold_share"),
            ),
            "reward": MoneyField(what="a reward", max_digits=8, **_said("reward")),
            "expected_seconds": DurationField(**_said("expected_seconds")),
            "assignment_seconds": DurationField(**_said("assignment_seconds")),
            "lifetime_seconds": DurationField(**_said("lifetime_seconds")),
            "approval": forms.ChoiceField(
                choices=Stage.Approval.choices, widget=forms.RadioSelect, **_said("approval")
            ),
            "auto_approval_seconds": DurationField(**_said("auto_approval_seconds")),
            "hit_title": text("hit_title"),
            "hit_description": text("hit_description", 3),
            "keywords": text("keywords"),
            "asks_other_workers_than": forms.MultipleChoiceField(
                required=False,
                choices=[(one.key, one.title) for one in earlier.order_by("position")],
                widget=forms.CheckboxSelectMultiple,
                **_said("asks_other_workers_than"),
            ),
            "draws": number("draws"),
            "grants": text("grants"),
            "screening_share": forms.FloatField(
                required=False,
                widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
                **_said("screening_share"),
            ),
            "practice_items": number("practice_items"),
            "screening_retries": number("screening_retries"),
            "screening_hours": number("screening_hours"),
        }

    def _condition(self) -> forms.Field:
        asked = further_answers.units_asked(self.stage)
        said = _said("enough")
        if asked:
            said["help_text"] += (
                f" This task asks: {', '.join(asked[:MOST_UNITS])}{' …' if asked[MOST_UNITS:] else ''}."
            )
        return forms.CharField(required=False, **said)

    def _add_policy(self) -> None:
        self.fields["has_policy"] = forms.BooleanField(required=False, label="Look for workers who answer much worse")
        for name, (label, unit) in _QUALITY.items():
            kind = forms.IntegerField if name in ("check_every", "min_answers") else forms.FloatField
            widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
            self.fields[f"quality_{name}"] = kind(required=False, label=label, help_text=unit, widget=widget)
        self.fields["quality_measure"] = forms.ChoiceField(
            choices=[(name, one.title) for name, one in MEASURES.items()],
            required=False,
            label="Answers are held against",
        )
        self.fields["quality_relative"] = forms.BooleanField(
            required=False, label="The floor is a share of the way from chance to the crowd's average"
        )

    def _qualifications(self) -> list[str]:
        """Those of the marketplace and of the project: tests, grants, and what its stages ask for already."""
        project = self.stage.project
        own = {INVITED, POOR_QUALITY, *project.qualification_tests.values_list("key", flat=True)}
        for stage in project.stages.all():
            own |= {stage.grants, *(one["qualification"] for one in stage.requirements)}
        system = (*INTEGER_QUALIFICATIONS, LOCALE)
        return [*system, *sorted(own - {"", *system})]

    def is_valid(self) -> bool:
        return super().is_valid() & self.requirements.is_valid()

    @cached_property
    def given(self) -> dict[str, Any]:
        """What was typed, as `stages.toml` writes it; fixed settings are left out."""
        read = self.cleaned_data
        found = {name: read[name] for name in self.settings if name in read}
        for name in ("gold_share", "screening_share"):
            if found.get(name) is None:
                # Not typed: it stays as it is.
                found.pop(name, None)
        if "reward" in found:
            found["reward"] = f"{found['reward']:.2f}"
        for name in ("assignment_seconds", "lifetime_seconds", "auto_approval_seconds"):
            if name in found:
                found[name] = found[name] or 0
        policy = {name: read[f"quality_{name}"] for name in _QUALITY if read.get(f"quality_{name}") is not None}
        policy["relative"] = read["quality_relative"]
        policy |= {"measure": read["quality_measure"]} if read["quality_measure"] else {}
        found["quality"] = policy if read["has_policy"] else {}
        found["requirements"] = [one for row in self.requirements.forms if (one := row.given)]
        return found

    def add_faults(self, refusal: SettingsRefusedError) -> None:
        """Tells each sentence at the field that it begins with."""
        for reason in refusal.reasons:
            name = reason.split()[0].split("[")[0].split(".")[0]
            if name in self.fields:
                self.add_error(name, f"“{self.fields[name].label}”{reason.removeprefix(name)}")
            else:
                self.add_error(None, reason)


def _said(name: str) -> dict[str, Any]:
    return {"label": LABELS[name], "help_text": HELP.get(name, "")}


def value_in_words(name: str, value: Any, stage: Stage) -> str:
    """A setting's value as a lead reads it."""
    if name == "requirements":
        return "; ".join(words.requirements(value)) or "none"
    if name == "quality":
        return words.policy(value) if value else "none"
    if name.endswith("_seconds"):
        nothing = "as the description says" if name == "expected_seconds" else "at once"
        return duration(value) if value else nothing
    if name == "most_answers":
        return f"{value:,}" if value else "no more"
    if name == "approval":
        return str(Stage.Approval(value).label)
    if name == "reward":
        return f"${value}"
    if name in ("gold_share", "screening_share"):
        return f"{value:.0%}"
    if name == "asks_other_workers_than":
        titles = dict(stage.project.stages.values_list("key", "title"))
        return ", ".join(titles.get(one, one) for one in value) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"
