"""Help: the documents of docs/ that lead through a page, readable where the work is done."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from hits.views import guides
from hits.views.guard import PAGE, guarded


def address(name: str) -> str:
    return reverse("help-page", args=[name])


@guarded(PAGE)
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "help/index.html", {"sections": guides.contents()})


@guarded(PAGE)
def page(request: HttpRequest, name: str) -> HttpResponse:
    guide = guides.guide(name, address)
    if guide is None:
        raise Http404("There is no such page of help.")
    return render(request, "help/page.html", {"guide": guide})
