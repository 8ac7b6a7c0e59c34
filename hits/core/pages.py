"""Forms of declared verbs on pages, what they post to, and lists as CSV.

A form works without scripts. With them (htmx) it is replaced by itself with the faults beside its fields, so nothing
that was typed is lost and the page around it stays.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect
from rest_framework import serializers
from rest_framework.serializers import ListField

from common import shown_once
from hits.api.base import refuse_unknown
from hits.core import lists, verbs
from hits.core.lists import List
from hits.core.quotes import PaymentConfirmation
from hits.core.roles import RoleRefusedError
from hits.core.verbs import Unchanged, Verb
from hits.models import Project
from hits.refusals import Refusal
from hits.views.guard import PAGE, VERB, LeadRequest, for_project
from hits.views.spreadsheet import csv_response

Field = serializers.Field[Any, Any, Any, Any]
# Of a form beside the fields of its verb: which of them it has, the page that it stands on, and its button.
FIELDS, NEXT = "form_fields", "form_page"
LOOKS = ("form_button", "form_style", "form_layout", "form_about")
# Of the page that shows a price: to confirm it, or to go back to what was typed.
CONFIRMED, BACK = ("total", "confirmation"), "change"
AROUND = {FIELDS, NEXT, *LOOKS, *CONFIRMED, BACK, "csrfmiddlewaretoken"}


@dataclass(frozen=True)
class FormField:
    """A field as the template draws it. `kind` chooses the control; `values` are what is chosen or typed."""

    name: str
    id: str
    kind: str
    declared: Field
    values: list[str]
    errors: list[str]
    offered: list[tuple[Any, str]]

    @property
    def value(self) -> str:
        """Of a list one value a line."""
        return "\n".join(self.values)

    @property
    def choices(self) -> list[tuple[str, str, bool]]:
        """(value, label, whether it is chosen)"""
        return [(str(value), label, str(value) in self.values) for value, label in self.offered]

    @property
    def maxlength(self) -> int | None:
        """Characters; a list's limit is of its values."""
        return None if isinstance(self.declared, ListField) else getattr(self.declared, "max_length", None)

    @property
    def takes_file(self) -> bool:
        """Its values may come in a file too: `style["file"]` reads them, and raises ValueError with a sentence."""
        return "file" in self.declared.style

    @property
    def has_notes(self) -> bool:
        return bool(self.errors or self.declared.help_text)

    @property
    def required(self) -> bool:
        return self.declared.required and not self.takes_file


@dataclass
class VerbForm:
    """The form of a verb for one row. `fixed` are values that the button alone decides."""

    verb: Verb
    row: Any
    project: Project
    shown: list[str]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    typed: Mapping[str, Any] | None = None
    errors: Mapping[str, list[str]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    next: str = ""
    user: Any = None

    @property
    def action(self) -> str:
        return reverse(self.verb.name, args=self.verb.on.arguments(self.row))

    @property
    def id(self) -> str:
        marks = "-".join(f"{name}-{value}" for name, value in self.hidden)
        return f"{self.verb.name.replace('.', '-')}-{self.row.pk}{marks and '-'}{marks}"

    @property
    def hidden(self) -> list[tuple[str, Any]]:
        """What is fixed; of a list each value."""
        return [(name, one) for name, value in self.fixed.items() for one in (value if _is_list(value) else [value])]

    @property
    def takes_file(self) -> bool:
        declared = self.verb.fields()
        return self.verb.takes_file or any("file" in declared[name].style for name in self.shown)

    @property
    def sent(self) -> list[tuple[str, Any]]:
        """(name, value) of each field as it was posted."""
        return [*(self.typed or {}).items(), *self.hidden]

    @property
    def button(self) -> str:
        return str(self.options.get("button") or self.verb.label)

    @property
    def general_errors(self) -> list[str]:
        beside = set(self.shown)
        return [sentence for name, said in self.errors.items() if name not in beside for sentence in said]

    def fields(self) -> Iterator[FormField]:
        declared = self.verb.fields()
        typed = self.typed
        if typed is None and self.verb.method in verbs.CHANGING:
            typed = {name: getattr(self.row, name, None) for name in self.shown}
        return fields_of(
            {name: declared[name] for name in self.shown}, self.id, typed, self.errors, self.row, self.user
        )


def fields_of(
    declared: Mapping[str, Field],
    prefix: str,
    typed: Mapping[str, Any] | None,
    errors: Mapping[str, list[str]],
    row: Any,
    user: Any,
) -> Iterator[FormField]:
    """The fields of a shape with what was typed, or their defaults.

    A field's `style` may have `choices`, which gives (value, label) pairs for the row and the user.
    """
    for name, one in declared.items():
        offer = one.style.get("choices")
        offered = offer(row, user) if offer else [*getattr(one, "choices", {}).items()]
        value = typed.get(name) if typed is not None else None if one.default is serializers.empty else one.default
        values: Any = value if _is_list(value) else [] if value is None or value is False else [value]
        yield FormField(
            name, f"{prefix}-{name}", _kind(one), one, [str(each) for each in values], errors.get(name, []), offered
        )


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _kind(one: Field) -> str:
    if isinstance(one, serializers.MultipleChoiceField):
        return "boxes"
    if isinstance(one, serializers.ChoiceField):
        return "select"
    if isinstance(one, serializers.BooleanField):
        return "box"
    if isinstance(one, serializers.FileField):
        return "file"
    return "select" if "choices" in one.style else str(one.style.get("kind", "text"))


def form_for(verb: Verb, row: Any, project: Project, request: HttpRequest, **options: Any) -> VerbForm:
    """A form to be filled in. `fields` names some of the verb's fields; a value of a field by its name fixes it, and
    `initial` has values to begin with."""
    declared = verb.fields()
    fixed = {name: value for name, value in options.items() if name in declared}
    every = [name for name in declared if name not in fixed]
    shown = str(options["fields"]).split() if "fields" in options else [] if fixed else every
    more = {name: value for name, value in options.items() if name not in {*declared, "fields", "initial"}}
    return VerbForm(
        verb, row, project, shown, fixed, options.get("initial"), options=more, next=request.get_full_path(),
        user=request.user,
    )  # fmt: skip


# Posting


def routes() -> list[URLPattern]:
    """What forms post to and lists are downloaded from, behind the address of a project; named after their verbs."""
    posts = [path(one.page_path, _poster(one), name=one.name) for one in verbs.REGISTRY.values() if one.has_form]
    tables = [one for one in lists.REGISTRY.values() if isinstance(one, List)]
    return [*posts, *(path(f"{one.path.rstrip('/')}.csv", _download(one), name=f"{one.name}.csv") for one in tables)]


def _poster(verb: Verb) -> Any:
    @for_project(VERB)
    def post(request: LeadRequest, project: Project, **parts: Any) -> HttpResponse:
        row = verb.on.find(project, **parts)
        form = _sent(request, verb, row, project)
        try:
            values = _checked(request, verb, row, project, form)
            if verb.quote:
                return _again(request, form, 200) if BACK in request.POST else _priced(request, form, values)
            result = verbs.perform(verb, row, request.user, values)
        except serializers.ValidationError as error:
            detail = error.detail if isinstance(error.detail, dict) else {"": error.detail}
            form.errors = {name: [str(one) for one in _flat(said)] for name, said in detail.items()}
            return _again(request, form, 400)
        except RoleRefusedError:
            raise
        except Refusal as refusal:
            faults = refusal.details().get("faults")
            by_field = faults if isinstance(faults, dict) else {getattr(refusal, "field", ""): str(refusal)}
            form.errors = {name: [said] for name, said in by_field.items()}
            return _again(request, form, refusal.http_status)
        return _done(request, form, result, values)

    return post


def _priced(request: LeadRequest, form: VerbForm, values: Mapping[str, Any]) -> HttpResponse:
    """The price, which changes nothing; behind its button what was confirmed, or why not and the price as it is now."""
    verb, said, status = form.verb, "", 200
    quote = verb.quote
    assert quote
    if "confirmation" in request.POST:
        given = PaymentConfirmation(data={name: request.POST.get(name, "") for name in CONFIRMED})
        if given.is_valid():
            try:
                result = verbs.perform(verb, form.row, request.user, {**values, **given.validated_data})
                return _done(request, form, result, values)
            except RoleRefusedError:
                raise
            except Refusal as refusal:
                said, status = f"{refusal} Nothing was paid.", refusal.http_status
        else:
            said, status = "This confirmation is incomplete. Here is the price as it stands.", 409
    context = {
        "form": form,
        "project": form.project,
        "quote": quote.price(form.row, **quote.ask(form.row, **values)),
        "confirmation": uuid.uuid4(),
        "said": said,
    }
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "core/_price.html", context, status=status if status == 200 else 422)
    return render(request, "core/price.html", context, status=status)


def _flat(said: Any) -> Iterator[Any]:
    """The sentences of an error of DRF, which may be nested by places in a list."""
    if isinstance(said, Mapping):
        said = list(said.values())
    if not isinstance(said, list):
        yield said
        return
    for one in said:
        yield from _flat(one)


def _sent(request: LeadRequest, verb: Verb, row: Any, project: Project) -> VerbForm:
    """The form as it was posted, with what was typed."""
    declared = verb.fields()
    shown = [name for name in request.POST.get(FIELDS, "").split() if name in declared]
    typed = {name: _value(request, name, one) for name, one in declared.items() if name in shown}
    fixed = {
        name: _value(request, name, one) if isinstance(one, ListField) else request.POST[name]
        for name, one in declared.items()
        if name in request.POST and name not in shown
    }
    page = request.POST.get(NEXT, "")
    # A word without a slash would be taken for the name of a page.
    safe = page.startswith("/") and url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure())
    looks = {name.removeprefix("form_"): request.POST[name] for name in LOOKS if name in request.POST}
    return VerbForm(
        verb, row, project, shown, fixed, typed, options=looks, next=page if safe else "", user=request.user
    )


def _value(request: HttpRequest, name: str, one: Field) -> Any:
    """As a serializer takes it: of boxes and of a list's words a list, of one box whether it is ticked."""
    sent, kind = request.POST, _kind(one)
    if kind == "file":
        return request.FILES.get(name)
    if isinstance(one, ListField):
        # Lines, commas and spaces part them, as in copied columns.
        return " ".join(sent.getlist(name)).replace(",", " ").split()
    if kind == "boxes":
        return sent.getlist(name)
    if kind == "box":
        return name in sent
    text = sent.get(name, "")
    if isinstance(one, serializers.DecimalField):
        text = text.strip().removeprefix("$").replace(",", "")
    return None if one.allow_null and not text else text


def _checked(request: LeadRequest, verb: Verb, row: Any, project: Project, form: VerbForm) -> dict[str, Any]:
    """Raises ValidationError."""
    refuse_unknown({name: "" for name in request.POST if name not in AROUND}, verb.takes)
    if not verb.takes:
        return {}
    _add_files(request, form)
    context = {"request": request, "role": project.role, "row": row}
    read = verb.takes(data={**(form.typed or {}), **form.fixed}, context=context)
    read.is_valid(raise_exception=True)
    return dict(read.validated_data)


def _add_files(request: LeadRequest, form: VerbForm) -> None:
    """To what was typed into lists, what `style["file"]` reads in the file beside each. Raises ValidationError."""
    for name, one in form.verb.fields().items():
        if name in form.shown and (file := request.FILES.get(f"{name}_file")):
            try:
                form.typed = {**(form.typed or {}), name: [*(form.typed or {})[name], *one.style["file"](file)]}
            except ValueError as error:
                raise serializers.ValidationError({name: [str(error)]}) from None


def _again(request: HttpRequest, form: VerbForm, status: int) -> HttpResponse:
    """The form with its faults: in its place on the page, or without scripts on a page of its own."""
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "core/_verb.html", {"form": form}, status=422)
    return render(request, "core/verb.html", {"form": form, "project": form.project}, status=status)


def _done(request: LeadRequest, form: VerbForm, result: Any, values: Mapping[str, Any]) -> HttpResponse:
    """To the page that the verb leads to, which says what was done and offers to take it back."""
    verb = form.verb
    if isinstance(result, Unchanged):
        messages.info(request, result.sentence)
        result = result.result
    elif not verb.shows_once:
        sentence, undo = verb.sentence(result, values), verbs.REGISTRY.get(verb.undo)
        if undo:
            options = {"button": "Undo"}
            taken_back = VerbForm(undo, form.row, form.project, [], options=options, next=form.next, user=form.user)
            context = {"sentence": sentence, "form": taken_back}
            sentence = render_to_string("core/_done.html", context, request)
        messages.success(request, sentence)
    page = _leads_to(form, result)
    if verb.shows_once and verb.gives:
        shown = verb.gives(result, context={"request": request, "role": form.project.role}).data
        once = {name: shown[name] for name in verb.shows_once}
        page = shown_once.leading_to(request, page, verb=verb.name, **once).url
    return HttpResponseClientRedirect(page) if request.htmx else redirect(page)  # type: ignore[attr-defined]


def _leads_to(form: VerbForm, result: Any) -> str:
    if form.verb.leads_to:
        name, *arguments = form.verb.leads_to(result)
        query = arguments.pop() if arguments and isinstance(arguments[-1], Mapping) else None
        return reverse(name, args=arguments, query=query)
    return form.next or reverse("project", args=[form.project.slug])


def _download(one: List) -> Any:
    @for_project(PAGE)
    def download(request: HttpRequest, project: Project, **parts: Any) -> HttpResponse:
        row = one.on.find(project, **parts)
        lines = one.table(row, request.GET.dict(), {"role": project.role})
        (head,) = islice(lines, 1)
        return csv_response(f"{project.slug}-{one.name.replace('.', '-')}.csv", head, lines)

    return download
