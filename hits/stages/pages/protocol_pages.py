"""Pages that protocols bring for their stages; see `hits.protocols.pages`.

Here rows are read, templates rendered, and the verbs called that forms name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect, render

from hits.items.rules.item_changes import fingerprint
from hits.items.verbs import correcting
from hits.models import Item, ItemChange, Stage
from hits.projects.rules.plugins import pages_of
from hits.protocols.base import AnswerRefusedError
from hits.protocols.pages import ChangeRow, ItemPage, ItemRow, ItemRows, Page
from hits.refusals import Refused
from hits.stages.pages.stages import frame
from hits.views import paging
from hits.views.guard import FORM, PAGE, VERB, LeadRequest, for_stage

SHOWN_CHANGES = 20
SHOWN_FELLOWS = 10


@for_stage(PAGE, crowd=False)
def items(request: HttpRequest, stage: Stage, page: str) -> HttpResponse:
    own = _page(stage, page)
    rows = stage.items.select_related("document")
    waits = request.GET.get("show") == "waiting"
    listed = paging.by_id(rows.filter(state=Item.State.NEW) if waits else rows, request.GET)
    context = {
        **own.context(_rows(listed.rows)),
        **frame(stage),
        "own_page": own,
        "page": listed,
        "waits": waits,
    }
    return render(request, own.template, context)


@for_stage(FORM, crowd=False)
def item(request: LeadRequest, stage: Stage, page: str, pk: int) -> HttpResponse:
    """One item; POST does what the page's form says."""
    own = _page(stage, page)
    row, shown = _item(stage, own, pk)
    if request.method != "POST":
        return _shown(request, own, shown, row)
    if shown.form is None:
        return HttpResponseNotAllowed(PAGE)
    fields = request.POST.dict()
    asked = shown.form(_rows([row])[0], fields)
    try:
        count = correcting.correct(row, asked.wanted, fields.get("seen", ""), request.user)
    except AnswerRefusedError as refusal:
        return _shown(request, own, shown, row, 400, fields=fields, refusal=refusal)
    except Refused as error:
        messages.error(request, f"{error} Nothing was saved.")
        row.refresh_from_db()
        return _shown(request, own, shown, row, 409)
    told = {0: "Nothing was different, so nothing was saved.", 1: "Saved."}
    messages.success(request, told.get(count, f"Saved, in {shown.fellows_named} too."))
    return redirect("protocol-page-item", stage.project.slug, stage.key, page, pk)


@for_stage(VERB, crowd=False)
def undo(request: LeadRequest, stage: Stage, page: str, pk: int) -> HttpResponse:
    row, shown = _item(stage, _page(stage, page), pk)
    if shown.form is None:
        raise Http404("Nothing is corrected on this page.")
    try:
        count = correcting.undo(row, request.user)
    except Refused as error:
        messages.error(request, f"{error} Nothing was undone.")
    else:
        messages.success(request, f"Undone{f', in {shown.fellows_named} too' if count > 1 else ''}.")
    return redirect("protocol-page-item", stage.project.slug, stage.key, page, pk)


def _page(stage: Stage, slug: str) -> Page:
    for page in pages_of(stage):
        if page.slug == slug:
            return page
    raise Http404("The protocol of this stage has no such page.")


def _item(stage: Stage, page: Page, pk: int) -> tuple[Item, ItemPage]:
    if page.item is None:
        raise Http404("There is no page of a single item.")
    row = get_object_or_404(stage.items.select_related("document"), pk=pk)
    row.stage = stage
    return row, page.item


def _shown(
    request: HttpRequest,
    page: Page,
    shown: ItemPage,
    item: Item,
    status: int = 200,
    fields: Mapping[str, str] | None = None,
    refusal: AnswerRefusedError | None = None,
) -> HttpResponse:
    own, *fellows = _rows([item, *correcting.fellows(item).select_related("document")[:SHOWN_FELLOWS]])
    changes = list(item.changes.select_related("changed_by", "undone_by")[:SHOWN_CHANGES])
    rows = ItemRows(
        own, fellows, [ChangeRow(change.pk, change.before, change.after) for change in changes], fields, refusal
    )
    context = {
        **shown.context(rows),
        **frame(item.stage),
        "own_page": page,
        "item": own,
        "seen": fingerprint(item),
        "changes": changes,
        "newest": next((change.pk for change in changes if change.undone_at is None), None),
        "note": correcting.note(item) if shown.form else "",
    }
    return render(request, shown.template, context, status=status)


def _rows(items: Sequence[Item]) -> list[ItemRow]:
    """With their documents and stages read before."""
    pks = [item.pk for item in items]
    published = set(correcting.published(Item.objects.filter(pk__in=pks)).values_list("pk", flat=True))
    corrected = set(ItemChange.objects.filter(item__in=pks, undone_at=None).values_list("item_id", flat=True))
    return [_row(item, is_published=item.pk in published, is_corrected=item.pk in corrected) for item in items]


def _row(item: Item, **standing: bool) -> ItemRow:
    return ItemRow(
        pk=item.pk,
        key=item.key,
        stage=item.stage.key,
        stage_title=item.stage.title,
        state=item.state,
        state_name=item.get_state_display(),
        document=item.document.data,
        data=item.data,
        **standing,
    )
