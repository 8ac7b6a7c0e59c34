"""Forms of these pages: they read what a person typed; verbs judge it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.contrib.auth.forms import BaseUserCreationForm

from common.names import name_fault, plain_name
from hits.models import Project
from hits.payments.models import LONGEST_REASON as LONGEST_REQUEST
from hits.projects.models import LONGEST_SEARCH, LONGEST_TAG, MOST_TAGS
from hits.projects.rules.project_rows import check_visible
from hits.projects.verbs.archiving import tags_of
from hits.refusals import Refused
from hits.views.forms import FilesField, MoneyField


class ProjectSearchForm(forms.Form):
    """A state that does not exist finds as if none was chosen."""

    find = forms.CharField(required=False, max_length=LONGEST_SEARCH, label="Name, tag, recipe or owner")
    state = forms.ChoiceField(required=False, label="State", choices=[("", "All in use"), *Project.State.choices])


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
        except Refused as error:
            raise forms.ValidationError(str(error)) from error


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


class BudgetForm(forms.Form):
    """`before` is the budget that the page of a large change showed: it confirms the change from that amount."""

    budget = MoneyField(what="a budget", label="Budget, $")
    before = MoneyField(required=False)


class AskForm(forms.Form):
    """Beside a budget that may have to be asked for."""

    why = forms.CharField(required=False, max_length=LONGEST_REQUEST, label="What for, if an owner has to be asked")
