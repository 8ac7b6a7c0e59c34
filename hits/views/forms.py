"""Fields and forms that pages of several capabilities share."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms

from hits.protocols.optional import with_unit
from hits.recipes import Option


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


def whole_number() -> forms.TextInput:
    return forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"})


class Files(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file or several; a list of them."""

    widget = Files

    def clean(self, data: Any, initial: Any = None) -> Any:
        given = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(one, initial) for one in given]


class LinesField(forms.CharField):
    """A line end counts as one character, as it does where the browser counts what is typed."""

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class MessageForm(forms.Form):
    """The texts, one a worker, are read beside it; `hits.people.verbs.messaging` judges all."""

    subject = forms.CharField(required=False, strip=True)
    confirmation = forms.RegexField(r"\A[A-Za-z0-9_-]{8,40}\Z")


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
        return forms.IntegerField(**common, widget=whole_number())
    if isinstance(value, float):
        number = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
        return forms.FloatField(**common, widget=number)
    if option.choices:
        return forms.ChoiceField(**common, choices=list(option.choices.items()))
    return forms.CharField(**common, max_length=1000, widget=forms.TextInput(attrs={"autocomplete": "off"}))
