"""The API's description, for programs and for people. Everybody may read it: it says nothing of any project."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.utils.decorators import method_decorator
from django.utils.translation import get_language
from django.views.decorators.http import conditional_page
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.throttling import AnonRateThrottle

from hits.api.base import LeadThrottle

# What each part of the API is for. The command line shows it above the commands of the part.
TAGS = {
    "Projects": "start a project from a recipe, find, copy and archive projects, state the workers' terms",
    "Members": "say who works on a project, with which role, and invite people by a link",
    "Uploads": "import a file of texts or rows, and see the faults of a file that was refused",
    "Media": "upload the pictures, sounds and videos that rows name",
    "Stages": "read and change the stages of a project, their settings and what workers read",
    "Publishing": "see the price, publish, pause, extend and close HITs",
    "Items and answers": "read items and answers, approve and reject answers, give items a priority or a suggestion",
    "Answers": "download answers as a file, or import those that were given elsewhere",
    "Rules": "say what the votes about an item conclude, and try it before it counts",
    "Quality": "see how well workers answer, block and pause some, write to them about their mistakes",
    "Releases": "make the files of a data set, read them, and score predictions against them",
    "Money": "read the ledger, compare it with the marketplace, and decide who may spend how much",
    "Payments": "pay bonuses and compensations",
    "Pools": "keep groups of workers of your own, and let people join by a link",
    "Qualification tests": "have workers pass a test before they get HITs",
    "Qualifications held": "give workers a qualification of the project, and take it back",
    "Messages": "write to workers and read what they write",
    "Webhooks": "have a program of yours told what happens",
    "Notices": "read what happened in your projects, and choose what you are told",
    "Computations": "run what the recipe computes, draw samples, set the recipe's options",
    "People and models": "let models answer beside people, and decide what they are sure of",
    "Models that answer": "take items and send answers, with a model's token",
    "Changes": "read what experts changed by hand, and undo it",
    "Queries": "correct the articles and queries of ReCoRD",
    "Targets": "correct the targets of MCScript2.0",
    "Marketplace account": "see the balance at the marketplace and how its calls ended",
    "Signing in": "your account, its tokens and its sessions",
}


def describe_tags(result: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A hook of drf-spectacular. Raises KeyError for a tag that is not described."""
    used = {tag for methods in result["paths"].values() for one in methods.values() for tag in one["tags"]}
    if unknown := used - TAGS.keys():
        raise KeyError(f"Describe {', '.join(sorted(unknown))} in TAGS.")
    result["tags"] = [{"name": name, "description": said} for name, said in TAGS.items() if name in used]
    return result


def drop_empty_defaults(result: Any, **options: Any) -> Any:
    """A hook of drf-spectacular. An empty text as default means that nothing is given: no value that may be sent, which
    a validator of descriptions refuses where the field has a pattern, choices or a least length.
    """
    for part in result.values() if isinstance(result, dict) else result if isinstance(result, list) else ():
        drop_empty_defaults(part)
    if isinstance(result, dict) and result.get("default") == "":
        del result["default"]
    return result


class StrangerThrottle(AnonRateThrottle):
    """Making the description takes a good part of a second."""

    scope = "stranger"
    rate = "60/min"


class OncePerProcess(SchemaGenerator):
    """The description changes with the code alone, so that a client's cache costs little to compare."""

    def get_schema(self, request: Any = None, public: bool = False) -> Any:
        return _made(get_language())


@cache
def _made(language: str | None) -> Any:
    return SchemaGenerator().get_schema(request=None, public=True)


@method_decorator(conditional_page, name="dispatch")
class Schema(SpectacularAPIView):
    """With an ETag: whoever has it already is answered with 304."""

    generator_class = OncePerProcess
    throttle_classes = [StrangerThrottle, LeadThrottle]


class Docs(SpectacularSwaggerSplitView):
    """Swagger UI with its start script as a file of its own."""

    url_name = "api:schema"
    template_name = "api/docs.html"
