"""The form of a stage's settings: it reads what a person typed; `hits.stages.verbs.stage_settings` judges it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cached_property
from typing import Any

from django import forms
from django.conf import settings as installation
from django.http import QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString

from hits.answers.rules.written_texts import fault_without_texts
from hits.formats.pool_keys import PREFIX
from hits.judging.rules import required_answers
from hits.model_assist.rules.suggestions import takes_suggestions
from hits.models import Stage
from hits.projects.rules.plugins import protocol_of, settings_of
from hits.protocols.base import SettingsRefusedError
from hits.protocols.optional import with_unit
from hits.recipes.stage_settings import GUARDS, INTEGER_QUALIFICATIONS, LOCALE, SETTINGS, StageSettings
from hits.stages.verbs.stage_settings import StageSetting
from hits.stats.blocking import MEASURES, SUGGESTED, Policy
from hits.templatetags.figures import duration
from hits.views import words
from hits.views.forms import MoneyField
from hits.workers.rules.project_qualifications import titles_of

# What is asked of a qualification of the project's own, whatever stands in the values.
_WITHOUT_VALUES = {"Exists": "held", "DoesNotExist": "not held"}
# What a form calls each comparator of the API.
_COMPARISONS = {**{name: said or "equal to" for name, said in words.COMPARATORS.items()}, **_WITHOUT_VALUES}
_COMPARATOR_NAME = re.compile(rf"\b({'|'.join(_COMPARISONS)})\b")
_OF_REQUIREMENT = re.compile(r"requirements\[(\d+)\]\.(\w+) (.*)", re.DOTALL)
UNITS = {1: "seconds", 60: "minutes", 3600: "hours", 86_400: "days"}
MOST_REQUIREMENTS = 10
# Of a long questionnaire, in the help of a field.
MOST_UNITS = 12
_GUARD_WORDS = {
    "Accept": "to accept",
    "PreviewAndAccept": "to look and accept",
    "DiscoverPreviewAndAccept": "to find, look and accept",
}
# Name, unit and effect of each number of a blocking policy.
_QUALITY = {
    "check_every": (
        "Check after every",
        "compared answers",
        "All workers are judged again each time so many more have come, in all.",
    ),
    "min_answers": (
        "Answers that a worker must have given at least",
        "compared answers",
        "Who has fewer is not judged: a few mistakes may be chance.",
    ),
    "floor": (
        "Floor",
        "share, above 0 and below 1",
        "A worker with a smaller share of right answers, or of what the measure counts, is named. 0.5 on the way from "
        "chance to the crowd’s average means: of four choices (chance 25 %) and a crowd of 85 %, below 55 %.",
    ),
    "alpha": (
        "Significance of the test against the crowd",
        "p-value, above 0 and below 1",
        "A worker is named only where chance explains the distance to the crowd with less than this probability.",
    ),
}
PAGE_LANGUAGES = {"": "that of each worker's browser", **dict(installation.LANGUAGES)}
_CHOICES = {"suggestions": Stage.Suggestions.choices, "page_language": list(PAGE_LANGUAGES.items())}
# Longer texts are typed in several rows.
_LONGEST_ROW = 1000


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
        choices=[("", "as usual"), *_COMPARISONS.items()],
    )
    values = forms.CharField(required=False, label="Values", max_length=500)
    guards = forms.ChoiceField(
        required=False, label="Needed", choices=[("", "as usual"), *((one, _GUARD_WORDS[one]) for one in GUARDS)]
    )

    def __init__(self, *args: Any, known: Mapping[str, str] | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        names = [("", "–"), *((name, _qualification(name, title)) for name, title in (known or {}).items())]
        self.fields["qualification"].choices = names  # type: ignore[attr-defined]

    @property
    def given(self) -> dict[str, Any] | None:
        """As `stages.toml` writes it."""
        read = self.cleaned_data
        if not read.get("qualification"):
            return None
        values = [value.strip() for value in read["values"].replace("%", "").split(",") if value.strip()]
        comparator = read["comparator"] or self._usual_comparator(read["qualification"])
        head = {"qualification": read["qualification"], "comparator": comparator}
        head |= {"guards": read["guards"]} if read["guards"] else {}
        if not values or comparator in _WITHOUT_VALUES:
            return head
        if read["qualification"] == LOCALE:
            return head | {"locales": [value.upper() for value in values]}
        return head | {"integers": [int(value) if value.isascii() and value.isdigit() else value for value in values]}

    @staticmethod
    def _usual_comparator(qualification: str) -> str:
        if qualification.startswith(PREFIX):
            return "Exists"
        return "In" if qualification == LOCALE else "GreaterThanOrEqualTo"

    def add_fault(self, field: str, sentence: str) -> None:
        """Tell a fault of what `given` says at the field from which it comes, in the words of this form."""
        said = _COMPARATOR_NAME.sub(lambda found: f"“{_COMPARISONS[found[0]]}”", sentence)
        self.add_error(field if field in self.fields else "values", said)


def _qualification(name: str, title: str) -> str:
    said = words.NAMES.get(name) or title
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
        policy = Policy.from_dict(stage.quality) if stage.quality else SUGGESTED
        initial |= {f"quality_{name}": value for name, value in asdict(policy).items()}
        initial |= {name: getattr(stage, name) for name in ("auto_publish", "auto_block")}
        super().__init__(data, initial=initial)
        fields = self._all_fields()
        open_ones = {name for name, setting in self.settings.items() if setting.when != "fixed"}
        if not takes_suggestions(stage):
            open_ones.discard("suggestions")
        self.fields.update({name: field for name, field in fields.items() if name in open_ones})
        self._add_policy()
        self.fields["auto_block"] = forms.BooleanField(
            required=False,
            label="Block those workers automatically",
            help_text="Otherwise you confirm each block. Blocks can be undone.",
        )
        self.fields["auto_publish"] = forms.BooleanField(
            required=False,
            label="Items that arrive from the stage before go out automatically",
            help_text="They are published without a quote, within the budget. Otherwise you publish them.",
        )
        rows = forms.formset_factory(RequirementForm, extra=1, max_num=MOST_REQUIREMENTS, absolute_max=20)
        asked = [_row(one) for one in stage.requirements]
        known = {"known": self._qualifications()}
        self.requirements = rows(data, initial=asked, prefix="requirement", form_kwargs=known)

    def _all_fields(self) -> dict[str, forms.Field]:
        """A field a setting, by what its value is; requirements and policy have forms of their own."""
        own = {"enough": self._condition, "text_evidence": self._text_evidence}
        return {
            name: own[name]() if name in own else self._field(name)
            for name in SETTINGS
            if name not in ("requirements", "quality")
        }

    def _field(self, name: str) -> forms.Field:
        setting = StageSettings.model_fields[name]
        shown = _label_and_help(name)
        if name == "reward":
            return MoneyField(what="a reward", max_digits=8, **shown)
        if name == "approval":
            return forms.ChoiceField(choices=Stage.Approval.choices, widget=forms.RadioSelect, **shown)
        if name == "asks_other_workers_than":
            earlier = self.stage.project.stages.filter(crowd=True, position__lt=self.stage.position)
            keys = [(one.key, one.title) for one in earlier.order_by("position")]
            return forms.MultipleChoiceField(required=False, choices=keys, widget=forms.CheckboxSelectMultiple, **shown)
        if name in _CHOICES:
            return forms.ChoiceField(required=False, choices=_CHOICES[name], **shown)
        if name.endswith("_seconds"):
            return DurationField(**shown)
        if setting.annotation is float:
            return forms.FloatField(required=False, widget=_number("decimal"), **shown)
        if setting.annotation in (int, int | None):
            return forms.IntegerField(min_value=0, max_value=10**9, widget=_number("numeric"), **shown)
        long = any((getattr(limit, "max_length", None) or 0) > _LONGEST_ROW for limit in setting.metadata)
        widget = forms.Textarea(attrs={"rows": 3}) if long else forms.TextInput()
        return forms.CharField(required=False, widget=widget, **shown)

    def _text_evidence(self) -> forms.Field:
        """Where the task has no text, it says so and stays off."""
        said = _label_and_help("text_evidence")
        fault = fault_without_texts(protocol_of(self.stage), settings_of(self.stage))
        if not fault:
            return forms.BooleanField(required=False, **said)
        # What the stage had before its task changed goes with the next change.
        self.initial["text_evidence"] = False
        return forms.BooleanField(
            required=False, disabled=True, **{**said, "help_text": f"Nothing to collect: {fault}"}
        )

    def _condition(self) -> forms.Field:
        asked = required_answers.units_asked(self.stage)
        said = _label_and_help("enough")
        if asked:
            said["help_text"] += (
                f" This task asks: {', '.join(asked[:MOST_UNITS])}{' …' if asked[MOST_UNITS:] else ''}."
            )
        return forms.CharField(required=False, **said)

    def _add_policy(self) -> None:
        self.fields["has_policy"] = forms.BooleanField(
            required=False, label="Look for workers who answer much worse", help_text=SETTINGS["quality"].help
        )
        for name, (label, unit, effect) in _QUALITY.items():
            kind = forms.IntegerField if name in ("check_every", "min_answers") else forms.FloatField
            self.fields[f"quality_{name}"] = kind(
                required=False, label=with_unit(label, unit), help_text=effect, widget=_number("decimal")
            )
        self.fields["quality_measure"] = forms.ChoiceField(
            choices=[(name, one.title) for name, one in MEASURES.items()],
            required=False,
            label="Answers are held against",
            help_text="What is counted for a worker, and compared with the crowd.",
        )
        self.fields["quality_relative"] = forms.BooleanField(
            required=False,
            label="The floor is a share of the way from chance to the crowd's average",
            help_text="Otherwise it is the share itself, whatever chance gives: a fixed floor of 0.2 names nobody "
            "where guessing among four choices is right in 0.25.",
        )

    def _qualifications(self) -> dict[str, str]:
        """Key to title, of those of the marketplace and of the project: tests, grants, and what its stages ask for."""
        own = titles_of(self.stage.project)
        system = dict.fromkeys((*INTEGER_QUALIFICATIONS, LOCALE), "")
        return system | dict(sorted(own.items(), key=lambda one: one[1]))

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
        if not found.get("suggestions"):
            found.pop("suggestions", None)
        if "reward" in found:
            found["reward"] = f"{found['reward']:.2f}"
        for name in ("assignment_seconds", "lifetime_seconds", "auto_approval_seconds"):
            if name in found:
                found[name] = found[name] or 0
        if "auto_approval_seconds" not in self.changed_data:
            # Untouched, it may follow what was chosen beside it.
            found.pop("auto_approval_seconds", None)
        policy = {name: read[f"quality_{name}"] for name in _QUALITY if read.get(f"quality_{name}") is not None}
        policy["relative"] = read["quality_relative"]
        policy |= {"measure": read["quality_measure"]} if read["quality_measure"] else {}
        found["quality"] = policy if read["has_policy"] else {}
        found["requirements"] = [one for row in self.requirements.forms if (one := row.given)]
        return found

    def add_faults(self, refusal: SettingsRefusedError) -> None:
        """Tells each sentence at the field that it begins with."""
        rows = [row for row in self.requirements.forms if row.given]
        for reason in refusal.reasons:
            if (found := _OF_REQUIREMENT.fullmatch(reason)) and int(found[1]) < len(rows):
                rows[int(found[1])].add_fault(found[2], found[3])
                continue
            name = reason.split()[0].split("[")[0].split(".")[0]
            if name in self.fields:
                label = SETTINGS[name].label if name in SETTINGS else self.fields[name].label
                self.add_error(name, f"“{label}”{reason.removeprefix(name)}")
            else:
                self.add_error(None, reason)


def _label_and_help(name: str) -> dict[str, Any]:
    setting = SETTINGS[name]
    return {"label": with_unit(setting.label, setting.unit), "help_text": setting.help}


def _number(mode: str) -> forms.TextInput:
    return forms.TextInput(attrs={"inputmode": mode, "autocomplete": "off"})


def value_in_words(name: str, value: Any, stage: Stage) -> str:
    """A setting's value as a lead reads it."""
    named = name == "asks_other_workers_than"
    titles = dict(stage.project.stages.values_list("key", "title")) if named else {}
    return said_of(name, value, titles, titles_of(stage.project) if name == "requirements" else {})


def said_of(name: str, value: Any, titles: Mapping[str, str], qualifications: Mapping[str, str]) -> str:
    """The same, with the titles of the project's stages and of its qualifications by their keys."""
    if name == "requirements":
        return "; ".join(words.requirements(value, qualifications)) or "none"
    if name == "grants":
        return qualifications.get(value) or str(value) or "none"
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
        return f"{100 * value:.0f} %"
    if name == "asks_other_workers_than":
        return ", ".join(titles.get(one, one) for one in value) or "none"
    if name in _CHOICES:
        return str(dict(_CHOICES[name]).get(value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"
