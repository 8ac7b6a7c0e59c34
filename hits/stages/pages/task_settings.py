"""The page "Task": what a stage asks of its workers, written without code and seen as they will see it.

Security behavior: the preview is the worker's page without anything that could be sent, shown in a sandboxed frame; a
page that a lead wrote has a policy of its own (`_custom_page`). Its address is the only one of the dashboard that may
be framed, and only by the dashboard itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.cache import cache
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import cached_property
from django.views.decorators.clickjacking import xframe_options_sameorigin

from common.html_pages import Surroundings, fit_into_frame
from common.html_templates import NotFilledError
from hits.answers.pages.task import shown
from hits.answers.rules import task_words
from hits.answers.verbs import serving
from hits.answers.verbs.serving import PREVIEW
from hits.items.rules import unsuitable_items
from hits.models import Item, Stage
from hits.projects.rules.plugins import usable_protocol
from hits.protocols.base import Json, SettingsRefusedError
from hits.protocols.optional import Corrected, CorrectingProtocol, Setting
from hits.publishing.rules.hit_plans import is_published
from hits.publishing.rules.hit_questions import has_own_page, own_page
from hits.refusals import Refused
from hits.stages.pages import default_instructions, parts_editor
from hits.stages.pages.stages import frame
from hits.stages.verbs import task_settings
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_stage

# How long what was typed and not saved can be looked at.
DRAFT_SECONDS = 3600
_STAGE_FIELDS = ("hit_title", "hit_description")
_HTML = {"class": "mono", "spellcheck": "false", "autocapitalize": "off", "wrap": "off"}
# What the button below an empty box of instructions asks for.
START_FROM_OURS = "start-from-ours"
# What the button below what is different in a corrected copy asks for; behind it stands the setting's name.
TAKE_CORRECTED = "take-corrected:"
# Far more than any page may have: what is wrong with it is told by its protocol.
LONGEST_FILE = 1024 * 1024
# Items that the page looks at: its time must not grow with the stage. Publishing looks at all that wait.
LOOKED_AT = 200


def _form_field(setting: Setting) -> forms.Field:
    shared: dict[str, Any] = {"label": setting.titled, "help_text": setting.help, "required": False}
    if setting.kind == "bool":
        return forms.BooleanField(**shared)
    if setting.kind == "number":
        return forms.IntegerField(**{**shared, "required": True})
    if setting.kind == "choice":
        return forms.ChoiceField(choices=setting.options, **{**shared, "required": True})
    if setting.kind == "html":
        # Lines are counted as the author counts them.
        return forms.CharField(strip=False, widget=forms.Textarea(attrs=_HTML | {"rows": setting.rows}), **shared)
    rows = {"rows": setting.rows}
    widget = forms.Textarea(attrs=rows) if setting.kind == "lines" or setting.rows > 1 else forms.TextInput()
    return forms.CharField(widget=widget, **shared)


class TaskForm(forms.Form):
    """The task of a stage. Whatever `setting_up` finds wrong is told at the field that it is about."""

    hit_title = forms.CharField(
        required=False, label="Title", help_text="Workers choose by it in the marketplace's list."
    )
    hit_description = forms.CharField(
        required=False,
        label="Description",
        help_text="Two sentences for the list: what is done, and how long it takes.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, stage: Stage, data: Any = None, files: Any = None) -> None:
        self.stage = stage
        self.unread: dict[str, str] = {}
        described = task_settings.fields_of(stage)
        self.settings = [setting for setting in described if setting.kind != "parts"]
        given = task_settings.shown_settings(stage)
        self.editors = [_editor(stage, one, given.get(one.name), data) for one in described if one.kind == "parts"]
        shown = {setting.name: _shown(setting, given) for setting in self.settings}
        initial = {name: getattr(stage, name) for name in _STAGE_FIELDS} | shown
        super().__init__(self._with_files(data, files), files, initial=initial)
        for setting in self.settings:
            self.fields[setting.name] = _form_field(setting)
            if setting.hint and (hint := self._hint(setting.hint)):
                self.fields[setting.name].help_text += f" {hint}"
            if setting.kind == "html":
                self.fields[_file_of(setting)] = forms.FileField(
                    required=False, label=f"{setting.label} from a file", help_text="Takes the place of what is above."
                )

    def _with_files(self, data: Any, files: Any) -> Any:
        """What was typed, with what a file holds in the place of what it is chosen for."""
        chosen = [one for one in self.settings if one.kind == "html" and files and _file_of(one) in files]
        if not chosen:
            return data
        read = data.copy()
        for setting in chosen:
            try:
                read[setting.name] = _text_of(files[_file_of(setting)])
            except ValueError as error:
                self.unread[_file_of(setting)] = str(error)
        return read

    def _hint(self, hint: Callable[[Json, Json], str]) -> str:
        with suppress(Refused):
            item = task_settings.example(self.stage).item
            return hint(item.document.data, item.data)
        return ""

    @cached_property
    def given(self) -> dict[str, Any]:
        """What `setting_up` takes; what could not be read is left out."""
        read = self.cleaned_data
        settings = {
            setting.name: [line.strip() for line in read[setting.name].splitlines() if line.strip()]
            if setting.kind == "lines"
            else read[setting.name]
            for setting in self.settings
            if setting.name in read
        }
        settings |= {editor.setting.name: editor.value for editor in self.editors}
        return {name: read[name] for name in _STAGE_FIELDS if name in read} | {"settings": settings}

    def clean(self) -> None:
        for name, reason in self.unread.items():
            self.add_error(name, reason)
        try:
            self.tried = task_settings.tried(self.stage, self.given)
        except SettingsRefusedError as refusal:
            for editor in self.editors:
                editor.faults = [reason for reason in refusal.reasons if editor.owns(reason)]
            for reason in refusal.reasons:
                self.add_error(*self._placed(reason))

    @cached_property
    def corrected(self) -> dict[str, Corrected]:
        """By setting, the corrected copy of a page that is refused, where there is one."""
        protocol = usable_protocol(self.stage)
        refused = [one.name for one in self.settings if one.kind == "html" and one.name in self.errors]
        if not isinstance(protocol, CorrectingProtocol):
            return {}
        copies = {name: protocol.corrected(name, self[name].value() or "") for name in refused}
        return {name: copy for name, copy in copies.items() if copy}

    def _placed(self, reason: str) -> tuple[str | None, str]:
        """The field that a sentence begins with, and the sentence with the field's label in its place."""
        name = reason.split()[0]
        if name not in self.fields:
            return None, reason
        return name, f"“{self.fields[name].label}”{reason.removeprefix(name)}"


def _file_of(setting: Setting) -> str:
    return f"{setting.name}_file"


def _text_of(file: UploadedFile) -> str:
    """Raises ValueError for a file that is no text, or far too long."""
    content = file.read(LONGEST_FILE + 1)
    if len(content) > LONGEST_FILE:
        raise ValueError(f"The file has more than {LONGEST_FILE:,} bytes: that is no page.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("The file is not in UTF-8: save it as UTF-8, or paste its text.") from None


def _editor(stage: Stage, setting: Setting, value: Any, data: Any) -> parts_editor.Editor:
    """The setting as it is typed, where it was on the page that was sent, else as it is saved."""
    typed = data is not None and parts_editor.is_posted(setting, data)
    found = parts_editor.posted(setting, data) if typed else value if isinstance(value, dict) else {}
    editor = parts_editor.Editor(setting, found)
    with suppress(Refused):
        item = task_settings.example(stage).item
        editor.hint = editor.editor.hint(item.document.data, item.data)
    return editor


def _shown(setting: Setting, given: Json) -> Any:
    value = given.get(setting.name)
    if setting.kind != "lines":
        return value
    texts = {choice["id"]: choice["text"] for choice in given.get(setting.names) or []}
    return "\n".join(texts.get(line, line) for line in setting.lines(value or []))


@for_stage(FORM)
def task(request: LeadRequest, stage: Stage) -> HttpResponse:
    if request.method != "POST":
        return _page(request, stage, TaskForm(stage))
    form = TaskForm(stage, request.POST, request.FILES)
    if request.POST.get("do") == START_FROM_OURS:
        return _with_ours(request, stage)
    if request.POST.get("do", "").startswith(TAKE_CORRECTED):
        form = _with_corrected(request, stage, form)
    elif request.POST.get("do"):
        return _edited(request, stage, form)
    if not form.is_valid():
        return _page(request, stage, form, 400)
    try:
        task_settings.change_task(stage, form.given, request.user)
    except Refused as error:
        messages.error(request, str(error))
        return _page(request, stage, TaskForm(stage), 409)
    messages.success(request, "The task is saved. Nothing is published by that.")
    return redirect("task-settings", stage.project.slug, stage.key)


def _with_ours(request: HttpRequest, stage: Stage) -> HttpResponse:
    """What was typed, with our instructions in their box. Saves nothing."""
    typed = request.POST.copy()
    with suppress(Refused):
        typed[default_instructions.field_of(stage)] = default_instructions.of(stage)
    form = TaskForm(stage, typed, request.FILES)
    draft = _keep(form.tried) if form.is_valid() else ""
    return _page(request, stage, form, edited=True, draft=draft)


def _with_corrected(request: HttpRequest, stage: Stage, form: TaskForm) -> TaskForm:
    """What was typed, with the corrected copy in the place of the page."""
    name = request.POST["do"].removeprefix(TAKE_CORRECTED)
    if name not in form.corrected:
        return form
    typed = request.POST.copy()
    typed[name] = form.corrected[name].text
    return TaskForm(stage, typed)


def _edited(request: LeadRequest, stage: Stage, form: TaskForm) -> HttpResponse:
    """What was typed after a button of an editor, or the file that it asks for. Saves nothing."""
    verb = request.POST["do"]
    editor = next((one for one in form.editors if verb.startswith(f"{one.setting.name}:")), None)
    if editor is None:
        return _page(request, stage, form)
    if verb == f"{editor.setting.name}:export":
        name = f"{stage.project.slug}-{stage.key}-{editor.setting.name}.json"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(editor.as_json() + "\n", content_type="application/json", headers=headers)
    file = request.FILES.get(f"{editor.setting.name}-file")
    try:
        editor.value = parts_editor.done(editor.setting, editor.value, request.POST, file)
    except Refused as error:
        editor.message = str(error)
    draft = _keep(form.tried) if form.is_valid() else ""
    reply = _page(request, stage, form, edited=True, draft=draft)
    # The preview follows.
    reply["HX-Trigger-After-Settle"] = "task-edited"
    return reply


def _page(request: HttpRequest, stage: Stage, form: TaskForm, status: int = 200, **more: Any) -> HttpResponse:
    seen = form.tried if form.is_bound and form.is_valid() else stage
    context = {
        **frame(stage),
        "form": form,
        **_unasked(stage),
        "frozen": is_published(stage),
        "unsuitable": _unsuitable_items(seen),
        "keys": task_settings.example_keys(stage),
        "shown_item": _shown_item(request),
        "ours": default_instructions.field_of(stage),
        **more,
    }
    return render(request, "stages/task.html", context, status=status)


def _unasked(stage: Stage) -> dict[str, Any]:
    """The settings that are asked of none of the first items, since each of them brings its own value; and how many
    these are, where the stage has more.
    """
    settings = [one for one in getattr(usable_protocol(stage), "fields", ()) if one.brought_as]
    pks = list(stage.items.order_by("id").values_list("pk", flat=True)[: LOOKED_AT + 1]) if settings else []
    if not pks:
        return {"unasked": set()}
    first = Item.objects.filter(pk__in=pks[:LOOKED_AT])
    unasked = {one.name for one in settings if not _lacking(first, one.brought_as).exists()}
    return {"unasked": unasked, "of_first": LOOKED_AT if len(pks) > LOOKED_AT else None}


def _lacking(items: QuerySet[Item], names: Sequence[str]) -> QuerySet[Item]:
    for name in names:
        items = items.filter(~Q(**{"data__has_key": name}))
    return items


def _shown_item(request: HttpRequest) -> str:
    """The key of the item that the preview is of; empty for the first."""
    return (request.POST.get("shown_item") or request.GET.get("shown_item", ""))[:300]


@for_stage(VERB)
def try_task(request: HttpRequest, stage: Stage) -> HttpResponse:
    """The part with the preview of what was typed, or with what is wrong with it. Changes nothing in the project."""
    form = TaskForm(stage, request.POST, request.FILES)
    draft = _keep(form.tried) if form.is_valid() else ""
    found = {
        "draft": draft,
        "unsuitable": _unsuitable_items(form.tried) if draft else [],
        "shown_item": _shown_item(request),
    }
    return render(request, "stages/_task_preview.html", {**frame(stage), "form": form, **found})


def _unsuitable_items(stage: Stage) -> list[str]:
    """What keeps the first items that wait from being published with the task as it is here."""
    return unsuitable_items.sentences(unsuitable_items.of_waiting(stage, LOOKED_AT))


def _keep(stage: Stage) -> str:
    """The key of a draft: too long for an address, and nothing that anybody would look for later."""
    draft = {name: getattr(stage, name) for name in (*_STAGE_FIELDS, "settings")}
    key = hashlib.sha256(json.dumps(draft, sort_keys=True).encode()).hexdigest()
    cache.set(_cache_key(stage, key), draft, DRAFT_SECONDS)
    return key


def _cache_key(stage: Stage, key: str) -> str:
    return f"task-draft:{stage.pk}:{key}"


@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})
@for_stage(PAGE)
def preview(request: HttpRequest, stage: Stage) -> HttpResponse:
    """The worker's page, as saved or, with `draft`, as it was typed; of the first item or that of `shown_item`."""
    for name, value in _draft(request, stage).items():
        setattr(stage, name, value)
    if stage.suggestions == Stage.Suggestions.HALF:
        # Of the two pages that workers see, the one with more on it.
        stage.suggestions = Stage.Suggestions.SHOWN
    try:
        hit = task_settings.example(stage, _shown_item(request))
        if has_own_page(stage):
            return _custom_page(request, own_page(hit).html)
        with task_words.spoken(stage.page_language or task_words.ENGLISH):
            return shown(serving.open_page(hit, {}), request)
    except Refused as error:
        return render(request, "stages/task_nothing.html", {"error": error})
    except NotFilledError:
        return render(request, "stages/task_nothing.html", {"error": " ".join(_unsuitable_items(stage))})


def _draft(request: HttpRequest, stage: Stage) -> dict[str, Any]:
    key = request.GET.get("draft", "")
    if not key:
        return {}
    if not (draft := cache.get(_cache_key(stage, key[:64]))):
        raise Http404("This preview is too old. Change something on the page around it to see it again.")
    return dict(draft)


# Forms of the page lead there; the policy lets none be sent.
_NOWHERE = "https://preview.invalid/mturk/externalSubmit"


def _custom_page(request: HttpRequest, html: str) -> HttpResponse:
    """A page that a lead wrote, as workers will see it at the marketplace.

    Security behavior: the page runs scripts that somebody wrote for another origin. It gets no origin at all (`sandbox`
    without `allow-same-origin`, as a header: it holds in a tab of its own too), so it meets no cookie and nothing of
    the dashboard; it sends no form and calls no address, and only the dashboard may frame it.
    """
    here = f"{request.scheme}://{request.get_host()}"
    # Of ours the two scripts that the marketplace puts in the place of Amazon's; and nothing else.
    scripts = f"{here}{settings.STATIC_URL}frames/"
    files = f"https: data: blob: {scripts}"
    response = HttpResponse(fit_into_frame(html, Surroundings(_NOWHERE, PREVIEW, scripts)))
    response["Content-Security-Policy"] = "; ".join(
        (
            "default-src 'none'",
            f"script-src {files} 'unsafe-inline' 'unsafe-eval'",
            f"style-src {files} 'unsafe-inline'",
            f"img-src {files}",
            f"media-src {files}",
            f"font-src {files}",
            "frame-src https:",
            "base-uri https:",
            "form-action 'none'",
            f"frame-ancestors {here}",
            "sandbox allow-scripts",
        )
    )
    response["Referrer-Policy"] = "no-referrer"
    return response
