"""Forms of the dashboard: they read what a person typed; rules about money and state live in `hits.flow`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.contrib.auth.forms import BaseUserCreationForm, PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import QueryDict

from common.addresses import LONGEST_ADDRESS
from common.names import name_fault, plain_name
from common.second_factor import device_of
from common.second_factor_forms import OwnerForm
from hits.domain.block_letters import LONGEST_WHY
from hits.domain.keyset import whole
from hits.domain.project_rows import check_visible
from hits.domain.release_cards import LONGEST, RELEASED, TEXTS
from hits.flow.people.blocking import LONGEST_REASON as LONGEST_BLOCK_REASON
from hits.flow.people.blocking import MOST_HOURS as MOST_PAUSE_HOURS
from hits.flow.people.pooling import MOST_BEST, MOST_USES
from hits.flow.people.pooling import MOST_DAYS as MOST_LINK_DAYS
from hits.flow.pipeline.publishing import MOST_HOURS
from hits.flow.pipeline.routing import LEAST_AUDIT, MOST_AUDIT, WHY_AUDIT, Condition
from hits.flow.setup import passwords
from hits.flow.setup.api_tokens import MOST_DAYS
from hits.flow.setup.archiving import TagsError, tags_of
from hits.flow.setup.invitations import MOST_DAYS as MOST_INVITATION_DAYS
from hits.flow.setup.model_annotators import MOST_COST
from hits.formats.licences import LICENCES, OWN
from hits.formats.payments import LONGEST_REASON
from hits.formats.qualification_test import MOST_QUESTIONS, Details
from hits.models import ApiToken, Membership, Project, Webhook
from hits.models.budget_requests import LONGEST_REASON as LONGEST_REQUEST
from hits.models.pools import LONGEST_NAME as LONGEST_POOL_NAME
from hits.models.pools import LONGEST_NOTE
from hits.models.projects import LONGEST_SEARCH, LONGEST_TAG, MOST_TAGS
from hits.protocols.optional import with_unit
from hits.recipes import Option

Role = Membership.Role


class MoneyField(forms.DecimalField):
    """Dollars and cents; `$` and thousands separators may be typed. `what` is what is asked for, in messages."""

    def __init__(self, *, what: str = "an amount", **options: Any) -> None:
        least = options.setdefault("min_value", Decimal(0))
        messages = {
            "min_value": f"Enter {what} of ${least} or more.",
            "invalid": f"Enter {what} in dollars and cents, such as 12.50.",
        }
        super().__init__(**{"max_digits": 12, "decimal_places": 2, "error_messages": messages, **options})
        self.widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str):
            value = value.strip().removeprefix("$").replace(",", "")
        return super().to_python(value)


def _whole_number() -> forms.TextInput:
    return forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"})


class RegisterModelForm(forms.Form):
    """`hits.flow.setup.model_annotators` judges it."""

    name = forms.CharField(max_length=60, label="Name", help_text="Of the model, such as “small-bert”.")
    version = forms.CharField(
        max_length=40, label="Version", help_text="What answers differently is another version: they are compared."
    )
    cost_per_answer = MoneyField(
        what="a cost",
        required=False,
        decimal_places=6,
        max_value=MOST_COST,
        label="Cost of an answer, $",
        help_text="Of answers that state none themselves; up to six decimals. Nothing is paid from here. May be empty.",
    )


class RoutingForm(forms.Form):
    """When models decide; `hits.flow.pipeline.routing` judges it."""

    models = forms.TypedMultipleChoiceField(label="Models", coerce=int, widget=forms.CheckboxSelectMultiple)
    least = forms.IntegerField(
        label="So many have to say the same",
        min_value=1,
        widget=_whole_number(),
        help_text="More than half of those that you choose.",
    )
    confidence = forms.FloatField(
        label="Each with a confidence of at least, in percent",
        min_value=0,
        max_value=100,
        widget=_whole_number(),
        help_text="As the models state it. An answer without a confidence decides nothing.",
    )
    audit = forms.FloatField(
        label="Of these items, sent to people all the same, in percent",
        min_value=100 * LEAST_AUDIT,
        max_value=100 * MOST_AUDIT,
        widget=_whole_number(),
        help_text="Drawn at random: they show how often the models are wrong.",
        error_messages={
            bound: f"Give {100 * LEAST_AUDIT:g} to {100 * MOST_AUDIT:g} percent. {WHY_AUDIT}"
            for bound in ("min_value", "max_value")
        },
    )

    def __init__(self, *arguments: Any, models: list[tuple[int, str]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["models"].choices = models  # type: ignore[attr-defined]

    def condition(self) -> Condition:
        given = self.cleaned_data
        return Condition(tuple(given["models"]), given["least"], given["confidence"] / 100, given["audit"] / 100)


class TokenForm(forms.Form):
    name = forms.CharField(max_length=60, label="Name", help_text="What uses it, such as “nightly export”.")
    scope = forms.ChoiceField(label="It may", choices=ApiToken.Scope.choices)
    days = forms.IntegerField(label="Days until it expires", min_value=1, max_value=MOST_DAYS, widget=_whole_number())


class NewPasswordForm(PasswordChangeForm):
    """Of a lead who is signed in; the present password is asked for again."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["old_password"].label = "Present password"
        self.fields["old_password"].widget.attrs.pop("autofocus", None)
        self.fields["new_password1"].help_text = "At least 10 characters, and not a common password."
        self.fields["new_password2"].label = "New password once more"
        self.fields["new_password2"].help_text = ""


class LinkedPasswordForm(SetPasswordForm):
    """Behind a link: the link says whose it is."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["new_password1"].help_text = "At least 10 characters, and not a common password."
        self.fields["new_password2"].label = "New password once more"
        self.fields["new_password2"].help_text = ""

    def save(self, commit: bool = True) -> Any:
        """Called by Django's view."""
        passwords.set_by_link(self.user, self.cleaned_data["new_password1"])
        return self.user


class ForgottenForm(forms.Form):
    email = forms.EmailField(
        label="Your e-mail address",
        help_text="The one of your account, to which notices are sent.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


class ProjectSearchForm(forms.Form):
    """A state that does not exist finds as if none was chosen."""

    find = forms.CharField(required=False, max_length=LONGEST_SEARCH, label="Name, tag, recipe or owner")
    state = forms.ChoiceField(required=False, label="State", choices=[("", "All in use"), *Project.State.choices])


class NoticeAddressForm(OwnerForm):
    email = forms.EmailField(
        required=False,
        label="Your e-mail address",
        help_text="A link is sent there first. Leave it empty to get no e-mail.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    field_order = ["email", "password", "code"]

    def __init__(self, user: User, *arguments: Any, **options: Any) -> None:
        super().__init__(user, *arguments, **options)
        if device_of(user) is None:
            del self.fields["code"]


class TagsForm(forms.Form):
    tags = forms.CharField(
        required=False,
        max_length=MOST_TAGS * (LONGEST_TAG + 1),
        label="Tags",
        help_text="Words that the project is found by, with spaces between.",
    )

    def clean_tags(self) -> str:
        try:
            return tags_of(self.cleaned_data["tags"])
        except TagsError as error:
            raise forms.ValidationError(str(error)) from error


class TermsForm(forms.Form):
    """`hits.flow.setup.terms` judges the text."""

    text = forms.CharField(
        required=False,
        strip=False,
        label="The terms",
        help_text="In Markdown: who collects what and what for, what happens with it, what workers may demand. HTML is "
        "shown as it is written, and pictures are left out.",
        widget=forms.Textarea(attrs={"rows": 16, "dir": "auto"}),
    )


class ReleaseCardForm(forms.Form):
    """What the card of releases states. `hits.domain.release_cards` judges it: here a line end counts as two signs."""

    licence = forms.ChoiceField(
        required=False,
        label="Licence",
        choices=[
            ("", "None stated"),
            *((one.spdx, f"{one.spdx} – {one.title}") for one in LICENCES.values()),
            (OWN, "Terms of our own"),
        ],
        help_text="What others may do with the data. Without one they may take it that they may do nothing.",
    )
    terms = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"maxlength": LONGEST["terms"], "rows": 4}),
        label="Terms of our own",
        help_text=f"Their text, which the release has as a file too. With “Terms of our own” only; at most "
        f"{LONGEST['terms']:,} characters.",
    )

    single_answers = forms.ChoiceField(
        required=False,
        label="Single answers",
        choices=[("", "Not in releases"), (RELEASED, "Released, with pseudonyms of workers")],
        help_text="Of train and dev, what each worker answered to each item. Answers of test are never told.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, asked in TEXTS.items():
            lines = {"rows": 5 if name == "citation" else 3, "spellcheck": "false" if name == "citation" else "true"}
            widget: forms.Widget = forms.Textarea(attrs={"maxlength": asked.longest, **lines})
            if name == "language":
                widget = forms.TextInput(attrs={"maxlength": asked.longest})
            field = forms.CharField(required=False, label=asked.label, help_text=asked.help, widget=widget)
            self.fields[name] = field


class NewProjectForm(forms.Form):
    name = forms.CharField(max_length=120, label="Name", validators=[check_visible])
    recipe = forms.ChoiceField(
        label="Recipe",
        required=False,
        help_text="Which data set's stages, pay and rules it starts with. Its options have a page in the project.",
    )
    file = forms.FileField(
        label="Or the file of a project",
        required=False,
        help_text="TOML that “Recipe as a file” of a project has written, changed as you like.",
    )
    budget = MoneyField(
        what="a budget",
        label="Budget, $",
        help_text="Rewards and fees together never exceed it. It can be raised later.",
    )
    contact_email = forms.EmailField(
        label="Contact e-mail", help_text="Workers see it on every task page and may write to it."
    )

    def __init__(self, *arguments: Any, recipes: list[tuple[str, str]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields["recipe"].choices = recipes  # type: ignore[attr-defined]

    def clean_recipe(self) -> str:
        name: str = self.cleaned_data["recipe"]
        if not name and not self.files.get("file"):
            raise forms.ValidationError("Choose a recipe, or the file of a project.")
        return name


class NewStageForm(forms.Form):
    """Of a stage that a lead adds; `hits.flow.setup.own_stages` judges it.

    The task is `protocol` or, of a ready-made one, `protocol/name`.
    """

    title = forms.CharField(
        max_length=120, label="Name of the stage", help_text="Leads see it; files are named after it."
    )
    protocol = forms.ChoiceField(label="Task")
    source = forms.ChoiceField(label="Its items are made of", required=False)
    each = forms.ChoiceField(
        label="One item for",
        choices=[("item", "each kept item"), ("answer", "each answer to it that counts")],
        required=False,
        help_text="Of the rows of a file: each row.",
    )
    draws = forms.IntegerField(
        label="Only a sample of",
        min_value=0,
        required=False,
        widget=_whole_number(),
        help_text="So many items, which you draw when there are enough. Empty: all of them, as they come.",
    )
    answers = forms.IntegerField(label="Answers an item", min_value=1, max_value=100, initial=3, widget=_whole_number())
    reward = MoneyField(label="Reward for an answer, $", initial="0.10")
    hit_title = forms.CharField(
        max_length=128,
        label="Title",
        help_text="Workers choose by it in the marketplace's list; each stage has its own.",
    )
    hit_description = forms.CharField(
        max_length=2000, label="Description", help_text="Two sentences: what is done, and how long it takes."
    )

    def __init__(
        self, *arguments: Any, protocols: list[tuple[str, str]], sources: list[tuple[str, str]], **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.fields["protocol"].choices = protocols  # type: ignore[attr-defined]
        self.fields["protocol"].initial = protocols[0][0] if protocols else None
        self.fields["source"].choices = [("", "each row of the imported file"), *sources]  # type: ignore[attr-defined]

    @property
    def table(self) -> dict[str, Any]:
        """As `stages.toml` writes it."""
        given = self.cleaned_data
        protocol, _, ready = given["protocol"].partition("/")
        names = ("title", "answers", "hit_title", "hit_description")
        return {name: given[name] for name in names} | {
            "protocol": protocol,
            "ready": ready,
            "reward": f"{given['reward']:.2f}",
            "draws": given["draws"] or 0,
            # Rows of a file have no answers.
            "input": {"stage": given["source"], "each": (given["each"] if given["source"] else "") or "item"},
        }


class ScreeningForm(forms.Form):
    """Of a test of a stage's workers; `hits.flow.setup.own_stages` judges it."""

    items_per_hit = forms.IntegerField(
        label="Items of the test",
        min_value=1,
        max_value=20,
        initial=8,
        widget=_whole_number(),
        help_text="With a gold answer, for each worker.",
    )
    screening_share = forms.IntegerField(
        label="Percent that has to be right", min_value=1, max_value=100, initial=75, widget=_whole_number()
    )
    practice_items = forms.IntegerField(
        label="Items to practise on before",
        min_value=0,
        max_value=10,
        initial=3,
        widget=_whole_number(),
        help_text="With what was right after each; 0: none. A column “explanation” of your file says why.",
    )
    draws = forms.IntegerField(
        label="At most so many rows for both",
        min_value=0,
        required=False,
        widget=_whole_number(),
        help_text="The others stay in the stage, for instance as check questions. Empty: all with a gold answer.",
    )
    answers = forms.IntegerField(
        label="Workers a HIT",
        min_value=1,
        max_value=100,
        initial=9,
        widget=_whole_number(),
        help_text="From 10 on the marketplace's fee is twice as high. Places can be published again.",
    )
    reward = MoneyField(
        label="Reward for the test, $", initial="0.50", help_text="Of practice and test together, whatever the result."
    )
    screening_retries = forms.IntegerField(
        label="Tries after a failed one", min_value=0, max_value=5, initial=0, widget=_whole_number()
    )
    screening_hours = forms.IntegerField(
        label="Hours until another try", min_value=1, max_value=720, initial=24, widget=_whole_number()
    )

    def table(self, stage: str) -> dict[str, Any]:
        """As `stages.toml` writes it, of the tested stage with that key."""
        given = dict(self.cleaned_data)
        return {
            **given,
            "reward": f"{given['reward']:.2f}",
            "screening_share": given["screening_share"] / 100,
            "draws": given["draws"] or 0,
            "input": {"stage": stage, "each": "known"},
        }


class WithdrawReleaseForm(forms.Form):
    reason = forms.CharField(max_length=2000, label="Why nobody shall use it any more")
    successor = forms.IntegerField(
        required=False, min_value=1, label="Number of the release to use instead", help_text="Empty: there is none yet."
    )


class CloneForm(forms.Form):
    name = forms.CharField(max_length=120, label="Name", validators=[check_visible])
    budget = MoneyField(what="a budget", label="Budget, $", help_text="Rewards and fees together never exceed it.")
    items = forms.BooleanField(
        required=False,
        label="With what was imported",
        help_text="Texts and items are copied, to be published again. Answers, people and money are not.",
    )
    splits = forms.BooleanField(
        required=False,
        label="Keep the splits of what was released",
        help_text="What this project released in test, dev or train goes there in the new project too, or nowhere.",
    )


class Files(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file or several; a list of them."""

    widget = Files

    def clean(self, data: Any, initial: Any = None) -> Any:
        given = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(one, initial) for one in given]


class ImportForm(forms.Form):
    file = FilesField(label="File, or several of one kind")
    origin = forms.ChoiceField(
        label="Origin of the texts",
        choices=[("public", "Your own, or public"), ("crawled", "Crawled from the web by yourselves")],
        help_text="Leave it where nothing was crawled. Texts that were are marked, and are kept out of training data.",
    )
    media_files = FilesField(
        label="Pictures, sounds and videos that its rows name",
        required=False,
        help_text="A zip, or the files themselves. Not needed for addresses with https://.",
    )


class ResultsForm(forms.Form):
    file = forms.FileField(
        label="File of results",
        help_text="CSV of Mechanical Turk, Turkle or Figure Eight, or the long table as CSV or JSON Lines.",
    )


class SuggestionsForm(forms.Form):
    file = forms.FileField(label="File of suggestions", help_text="CSV, TSV, JSON Lines or a workbook.")


class PrioritiesForm(forms.Form):
    file = forms.FileField(label="File of priorities", help_text="CSV, TSV, JSON Lines or a workbook.")


class MediaForm(forms.Form):
    file = FilesField(label="A zip of pictures, sounds and videos, or the files themselves")


class AnswersFileForm(forms.Form):
    """What a model elsewhere made of its files."""

    file = forms.FileField(label="File", widget=forms.FileInput(attrs={"accept": ".json,.jsonl,application/json"}))


class AnnotationsForm(forms.Form):
    file = forms.FileField(label="File of annotations", help_text="JSON Lines, as downloaded: one article a line.")


class MemberForm(forms.Form):
    username = forms.CharField(max_length=150, label="User name", widget=forms.TextInput(attrs={"autocomplete": "off"}))
    role = forms.ChoiceField(choices=Role.choices, initial=Role.READER, label="Role")

    def clean_username(self) -> User:
        """The account of that name."""
        found = get_user_model().objects.filter(username=self.cleaned_data["username"], is_active=True).first()
        if found is None:
            raise forms.ValidationError("Nobody here has this user name. Ask for the exact spelling.")
        return found


class InvitationForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices, initial=Role.READER, label="Role")
    email = forms.EmailField(
        required=False,
        label="E-mail address",
        help_text="May stay empty. The link is sent there if this server sends e-mail.",
    )
    days = forms.IntegerField(
        label="Days until it expires", min_value=1, max_value=MOST_INVITATION_DAYS, widget=_whole_number()
    )


class NewAccountForm(BaseUserCreationForm):
    """An account for somebody who was invited: Django's own checks, and a name that is nobody's in any spelling."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name, label, help_text in (
            ("username", "User name", "Letters, digits and @ . + - _"),
            ("password1", "Password", "At least 10 characters, and none of the common passwords."),
            ("password2", "The password again", ""),
        ):
            self.fields[name].label, self.fields[name].help_text = label, help_text

    def clean_username(self) -> str:
        name = plain_name(self.cleaned_data["username"])
        if fault := name_fault(name):
            raise forms.ValidationError(fault)
        if get_user_model().objects.filter(username__iexact=name).exists():
            raise forms.ValidationError("Somebody here has this user name already. Choose another one.")
        return name


class MemberOfForm(forms.Form):
    member: forms.ModelChoiceField = forms.ModelChoiceField(queryset=None)

    def __init__(self, project: Project, *arguments: Any) -> None:
        super().__init__(*arguments)
        people = get_user_model().objects.filter(memberships__project=project)
        self.fields["member"].queryset = people  # type: ignore[attr-defined]


class ChangedRoleForm(MemberOfForm):
    role = forms.ChoiceField(choices=Role.choices)


class BudgetForm(forms.Form):
    """`before` is the budget that the page of a large change showed: it confirms the change from that amount."""

    budget = MoneyField(what="a budget", label="Budget, $")
    before = MoneyField(required=False)


class AskForm(forms.Form):
    """Beside a budget that may have to be asked for."""

    why = forms.CharField(required=False, max_length=LONGEST_REQUEST, label="What for, if an owner has to be asked")


class DecisionForm(forms.Form):
    reason = forms.CharField(required=False, max_length=LONGEST_REQUEST, label="Reason")


class MayBudgetForm(forms.Form):
    """0: not at all."""

    may_budget = MoneyField(what="an amount")


MOST_ITEMS = 10_000_000


class PublishForm(forms.Form):
    """What the quote page showed: `hits.flow` refuses when it is no longer so."""

    items = forms.IntegerField(min_value=1, max_value=MOST_ITEMS)
    total = forms.DecimalField(max_digits=12, decimal_places=2)
    confirmation = forms.UUIDField()


class HowManyForm(forms.Form):
    items = forms.IntegerField(min_value=1, max_value=MOST_ITEMS, required=False)


class ExtendForm(forms.Form):
    """`ends` is the closing time that the page showed, so that sending the form twice adds the hours once."""

    hours = forms.IntegerField(min_value=1, max_value=MOST_HOURS, initial=72, label="Hours to add")
    ends = forms.DateTimeField(required=False, widget=forms.HiddenInput)


class AnswersForm(forms.Form):
    """The answers that were ticked; more than a page of them was never on the screen."""

    answers = forms.TypedMultipleChoiceField(coerce=int)

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self._ticked = data.getlist("answers") if data else []
        self.fields["answers"].choices = [(pk, pk) for pk in self._ticked if _is_id(pk)]  # type: ignore[attr-defined]

    @property
    def is_unreadable(self) -> bool:
        """Whether something is ticked, and not everything of it is an id."""
        return bool(self._ticked) and "answers" in self.errors


def _is_id(text: str) -> bool:
    try:
        return whole(text) > 0
    except ValueError:
        return False


class ApproveManyForm(forms.Form):
    """What the page showed: how many answers, of blocked workers too, for how much, and the last that was there."""

    count = forms.IntegerField(min_value=1)
    of_blocked = forms.IntegerField(min_value=0, required=False)
    cost = forms.DecimalField(min_value=0, max_digits=12, decimal_places=2)
    until = forms.IntegerField(min_value=1, max_value=2**63 - 1)


class LinesField(forms.CharField):
    """A line end counts as one character, as it does where the browser counts what is typed."""

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class RejectForm(AnswersForm):
    feedback = LinesField(max_length=1000, widget=forms.Textarea(attrs={"rows": 2}))


class ReasonForm(forms.Form):
    """Of one rejection: a reason that was offered, or one in other words in its place."""

    reason = LinesField(max_length=1000, required=False)
    feedback = LinesField(max_length=1000, required=False)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        given["feedback"] = given.get("feedback") or given.get("reason")
        if not given["feedback"] and not self.errors:
            raise forms.ValidationError("No reason is given.")
        return given


class WorkersForm(forms.Form):
    """The workers to block, by their marketplace ids, and the dollars that the page showed for answers again."""

    workers = forms.MultipleChoiceField()
    tell = forms.BooleanField(required=False)
    cost = forms.DecimalField(min_value=0, max_digits=12, decimal_places=2)

    def __init__(self, known: list[str], *arguments: Any) -> None:
        super().__init__(*arguments)
        self.fields["workers"].choices = [(worker_id, worker_id) for worker_id in known]  # type: ignore[attr-defined]


class BlockByHandForm(forms.Form):
    """The reasons for the project and for the workers, and the dollars that the page showed for answers again.

    The workers are read from the address.
    """

    reason = forms.CharField(
        max_length=LONGEST_BLOCK_REASON,
        label="Reason",
        help_text="For you and the others of the project; the worker does not see it. It stays with the block.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    tell = forms.BooleanField(
        required=False, initial=True, label="Write to the workers why, and what happens to their answers"
    )
    told = forms.CharField(
        required=False,
        max_length=LONGEST_WHY,
        label="Why, as the workers read it",
        help_text="It stands in the message below. Empty only where you do not write to them.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    cost = forms.DecimalField(min_value=0, max_digits=12, decimal_places=2)

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("tell") and "told" in given and not given["told"]:
            self.add_error("told", "Write why, for the workers to read, or untick the box above.")
        return given


class MessageForm(forms.Form):
    """The texts, one a worker, are read beside it; `hits.flow.people.messaging` judges all."""

    subject = forms.CharField(required=False, strip=True)
    confirmation = forms.RegexField(r"\A[A-Za-z0-9_-]{8,40}\Z")


class MessageTemplateForm(forms.Form):
    """`hits.domain.message_templates` judges all."""

    name = forms.CharField(required=False, label="Name", help_text="By which you find it.")
    subject = forms.CharField(required=False, label="Subject")
    text = forms.CharField(required=False, label="Text", widget=forms.Textarea(attrs={"rows": 10, "dir": "auto"}))


class MessageAllForm(MessageForm):
    recipients = forms.CharField(required=False)
    subject = forms.CharField(required=False, strip=True, label="Subject")
    text = forms.CharField(required=False, label="Text", widget=forms.Textarea(attrs={"rows": 10, "dir": "auto"}))


class PauseForm(forms.Form):
    hours = forms.IntegerField(
        min_value=1, max_value=MOST_PAUSE_HOURS, initial=24, label="Hours", widget=_whole_number()
    )
    reason = forms.CharField(
        required=False,
        max_length=LONGEST_BLOCK_REASON,
        label="Reason",
        help_text="For you and the others of the project; the worker does not see it.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class WorkerIdsForm(forms.Form):
    """Ids of workers at the marketplace; `hits.flow` judges them."""

    workers = forms.CharField(
        label="Workers",
        help_text="Their ids at the marketplace, one a line. Who has the qualification already keeps it.",
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocapitalize": "characters"}),
        required=False,
    )

    def ids(self) -> list[str]:
        """Commas and spaces part ids as well, as copied columns do."""
        self.full_clean()
        return str(self.cleaned_data.get("workers", "")).replace(",", " ").split()


class PoolForm(forms.Form):
    name = forms.CharField(
        max_length=LONGEST_POOL_NAME,
        label="Name",
        help_text="Such as “Students 2026”. Workers who are in it read the name at the marketplace, too.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class PoolWorkersForm(WorkerIdsForm):
    """Ids that are typed, in a file, or both; `hits.flow` judges them."""

    file = forms.FileField(
        required=False,
        label="Or a file",
        help_text="One id a line, or a table (CSV) with a column worker_id. At most 10,000 workers.",
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.txt,text/csv,text/plain"}),
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields[
            "workers"
        ].help_text = "Their ids at the marketplace, one a line. Who is in the pool already stays in it."


class PoolLinkForm(forms.Form):
    uses = forms.IntegerField(
        min_value=1, max_value=MOST_USES, initial=1, label="People that it lets in", widget=_whole_number()
    )
    days = forms.IntegerField(
        min_value=1, max_value=MOST_LINK_DAYS, initial=14, label="Days until it expires", widget=_whole_number()
    )
    note = forms.CharField(
        required=False,
        max_length=LONGEST_NOTE,
        label="Whom it is for",
        help_text="May stay empty. Nobody but the members of your projects reads it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class BestForm(forms.Form):
    """Which workers of which stage; the boxes of those that are chosen are read beside it."""

    stage = forms.ChoiceField(label="Stage")
    by = forms.ChoiceField(
        label="By", choices=[("known", "share of gold answers right"), ("agreement", "agreement with the others")]
    )
    least = forms.IntegerField(
        min_value=1, max_value=1_000_000, initial=20, label="With so many such answers or more", widget=_whole_number()
    )
    top = forms.IntegerField(
        min_value=1, max_value=MOST_BEST, initial=20, label="At most so many workers", widget=_whole_number()
    )

    def __init__(self, project: Project, *arguments: Any) -> None:
        super().__init__(*arguments)
        stages = project.stages.filter(crowd=True).order_by("position")
        self.fields["stage"].choices = list(stages.values_list("key", "title"))  # type: ignore[attr-defined]


class OtherProjectForm(forms.Form):
    project: forms.ModelChoiceField = forms.ModelChoiceField(queryset=None, to_field_name="slug", label="Project")

    def __init__(self, projects: QuerySet[Project], *arguments: Any) -> None:
        super().__init__(*arguments)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]


class BonusForm(forms.Form):
    """What a lead types; `hits.flow` judges it, for single bonuses and files alike."""

    amount = forms.CharField(
        max_length=20, label="Amount, $", widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        label="Reason",
        help_text="The worker reads it, in the language that you write.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def clean_amount(self) -> str:
        # A comma stays, and is refused by `hits.flow`: it may be meant as a decimal point.
        return str(self.cleaned_data["amount"]).removeprefix("$")


class CompensationForm(BonusForm):
    worker_id = forms.CharField(
        max_length=64,
        label="Worker's id at the marketplace",
        help_text="Begins with A. The worker may have no answer in this project.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    field_order = ["worker_id", "amount", "reason"]


class BonusFileForm(forms.Form):
    file = forms.FileField(label="File", widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.txt,text/csv"}))


class PaymentConfirmation(forms.Form):
    """What the price page showed: `hits.flow` refuses when it is no longer so."""

    total = forms.DecimalField(max_digits=12, decimal_places=2)
    confirmation = forms.UUIDField()


class QualificationTestForm(forms.Form):
    """What a lead types about a test; `hits.flow` judges it. The key is typed once, and left out where it is given."""

    title = forms.CharField(label="Title", help_text="Workers see it in the list of qualifications.")
    key = forms.CharField(
        label="Short name",
        help_text="Lower-case words joined by hyphens, such as reading-test. Stages and recipes name the test by it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    description = forms.CharField(
        label="Description",
        help_text="Workers read it before they begin: what the test is about and which work it opens.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    pass_mark = forms.IntegerField(label="Pass mark, %", initial=80, widget=_whole_number())
    minutes = forms.IntegerField(label="Time for the test, minutes", initial=15, widget=_whole_number())
    retry_days = forms.IntegerField(
        label="Another try after, days",
        required=False,
        help_text="Empty: each worker has one attempt only.",
        widget=_whole_number(),
    )

    def __init__(self, *arguments: Any, key: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._key = key
        if key:
            del self.fields["key"]

    def details(self) -> Details:
        return Details(**{"key": self._key, **self.cleaned_data})


class KnownQuestionsForm(forms.Form):
    count = forms.IntegerField(
        label="Questions", min_value=1, max_value=MOST_QUESTIONS, initial=10, widget=_whole_number()
    )
    stage = forms.ChoiceField(label="From the items of", required=False)

    def __init__(self, project: Project, *arguments: Any) -> None:
        super().__init__(*arguments)
        stages = [(stage.key, stage.title) for stage in project.stages.order_by("position")]
        self.fields["stage"].choices = [("", "all stages"), *stages]  # type: ignore[attr-defined]


class RuleForm(forms.Form):
    """What the confirmation page showed: `hits.flow` refuses when another rule was saved since."""

    text = forms.CharField(required=False, strip=False)
    again = forms.CharField(max_length=5, required=False)
    note = forms.CharField(max_length=200, required=False)
    seen = forms.IntegerField(min_value=1)


class DrawForm(forms.Form):
    items = forms.IntegerField(label="Size of the sample", min_value=1, max_value=1_000_000, widget=_whole_number())


class ValuesForm(forms.Form):
    """A field for each value of a recipe, of the kind that the value is: whole number, number, yes or no, text.

    `described` has what a lead reads of them; a field without is called by the value's name.
    """

    def __init__(
        self, values: Mapping[str, Any], *arguments: Any, described: Mapping[str, Option] | None = None, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        for name, value in values.items():
            if isinstance(value, bool | int | float | str):
                self.fields[name] = _value_field(name, value, (described or {}).get(name, Option()))


def _value_field(name: str, value: Any, option: Option) -> forms.Field:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # Of a choice and of a truth value the page shows what there is to choose.
    unit = option.unit if is_number or not (option.choices or isinstance(value, bool)) else ""
    label = with_unit(option.label or name.replace("_", " ").capitalize(), unit)
    said = [option.help, f"Paper: {option.paper}" if option.paper else ""]
    common: dict[str, Any] = {"label": label, "initial": value, "help_text": " ".join(filter(None, said))}
    if isinstance(value, bool):
        return forms.BooleanField(**common, required=False)
    if isinstance(value, int):
        return forms.IntegerField(**common, widget=_whole_number())
    if isinstance(value, float):
        number = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
        return forms.FloatField(**common, widget=number)
    if option.choices:
        return forms.ChoiceField(**common, choices=list(option.choices.items()))
    return forms.CharField(**common, max_length=1000, widget=forms.TextInput(attrs={"autocomplete": "off"}))


class WebhookForm(forms.Form):
    """Whether the address may be called, the flow module says."""

    address = forms.CharField(
        max_length=LONGEST_ADDRESS,
        label="Address",
        help_text="Events are posted there. It begins with https:// and is on the internet, unless this installation "
        "allows more.",
        widget=forms.URLInput(attrs={"autocomplete": "off", "placeholder": "https://lab.example.org/annotate"}),
    )
    events = forms.MultipleChoiceField(
        choices=Webhook.Event.choices,
        label="Tell it when",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one event."},
    )
