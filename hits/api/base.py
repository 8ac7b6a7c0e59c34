"""What every view of the API is made of: the guard, the brakes, and the description in the schema.

Security behavior: an anonymous call is answered with 401. A project that the caller is no member of does not exist
(404), whatever the verb. To a member whose role does not allow it (`hits.core.roles`), and on a route that no role
may call, the answer is 403. That is decided here, before any handler runs, for everything under a project.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import wraps
from itertools import islice
from typing import Any, ClassVar, TypeVar, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import RequestDataTooBig
from django.shortcuts import get_object_or_404
from django.utils.cache import add_never_cache_headers
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.throttling import BaseThrottle, UserRateThrottle
from rest_framework.views import APIView

from hits.api.errors import ErrorAnswer
from hits.api.parsing import JSONParser
from hits.core import roles, upload_limits
from hits.core.action_log import acting_from
from hits.models import Action, Project, Stage
from hits.projects.rules.plugins import refuse_without_crowd

Handler = TypeVar("Handler", bound=Callable[..., Any])
# Of unknown fields in one refusal: how many are named, and how much of a name is repeated.
MOST_NAMED, LONGEST_NAME = 100, 100


class LeadThrottle(UserRateThrottle):
    """Per user and web process: the counters live in the process's cache."""

    scope = "lead"
    rate = "1200/min"


class HeavyThrottle(UserRateThrottle):
    """For what reads a whole project, asks the marketplace or takes a file."""

    scope = "heavy"
    rate = "60/min"


# The base views have comments and no docstrings: the schema would print those under every operation.


# Anything for a signed-in user. `heavy` names the methods that are braked harder.
class LeadView(APIView):
    heavy: ClassVar[frozenset[str]] = frozenset()
    # The methods that spend money or can lead to spending it: they take a token of the scope `pay`.
    pays: ClassVar[frozenset[str]] = frozenset()
    parser_classes = [JSONParser]

    def dispatch(self, request: Request, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        with acting_from(Action.Origin.API):
            return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # First of all, for signing in by session may read the body already. The parsers here know no limit.
        self.refuse_large_body(int(request.META.get("CONTENT_LENGTH") or 0))
        super().initial(request, *args, **kwargs)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        final = super().finalize_response(request, response, *args, **kwargs)
        add_never_cache_headers(final)
        return final

    def refuse_large_body(self, length: int) -> None:
        if length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise RequestDataTooBig(f"At most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes are taken at once.")

    @property
    def user(self) -> User:
        """Who is signed in; the permissions have made sure that somebody is."""
        return cast(User, self.request.user)

    def get_throttles(self) -> list[BaseThrottle]:
        throttles: list[BaseThrottle] = [LeadThrottle()]
        if self.request.method in self.heavy:
            throttles.append(HeavyThrottle())
        return throttles


# `self.project` is one that the caller is a member of, with a role that allows this.
class ProjectView(LeadView):
    project: Project

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        mine = Project.objects.visible_to(request.user).select_related("account")
        self.project = get_object_or_404(mine, slug=kwargs["slug"])
        # What has no handler is answered with 405; describing a route (OPTIONS) does nothing in a project.
        if hasattr(self, str(request.method).lower()) and request.method != "OPTIONS":
            route = request.resolver_match.url_name if request.resolver_match else None
            roles.refuse_unless_allowed(self.project, self.needed())
            length = int(request.META.get("CONTENT_LENGTH") or 0)
            if length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
                upload_limits.refuse_of_role(self.project, length, with_media=route == "media")

    def needed(self) -> roles.Verb | None:
        """The verb of the table of roles that this request does; None: no role may."""
        route = self.request.resolver_match.url_name if self.request.resolver_match else None
        return roles.route_verb(str(route), str(self.request.method))

    def address(self, name: str, *more: object) -> str:
        """Of a route of this project; `more` are the other parts of its address."""
        return str(reverse(f"api:{name}", [self.project.slug, *more], request=self.request))


# `self.stage` is a stage of the caller's project, with its project, account and summary.
# With `crowd`, a stage without one is refused (409).
class StageView(ProjectView):
    stage: Stage
    crowd: ClassVar[bool] = True

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        stages = self.project.stages.select_related("summary")
        self.stage = get_object_or_404(stages, key=kwargs["key"])
        self.stage.project = self.project
        if self.crowd:
            refuse_without_crowd(self.stage)

    def stage_address(self, name: str) -> str:
        """Of a route of this stage."""
        return str(reverse(f"api:{name}", [self.project.slug, self.stage.key], request=self.request))


class Started(serializers.Serializer[Any]):
    """Work that goes on in the background."""

    message = serializers.CharField()
    see = serializers.CharField(help_text="The address that shows how far it is.")


def started(message: str, see: str) -> Response:
    """202: asked for, not done yet."""
    return Response({"message": message, "see": see}, status=status.HTTP_202_ACCEPTED)


@dataclass(frozen=True)
class QuotedBy:
    """The operation that shows what another one would do and cost. `gives`: fields of that other one which it answers
    with, to confirm what was shown; `names` has those fields and parameters that it calls otherwise.
    """

    operation: str
    gives: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DoneWhen:
    """What started is done when this field, at the address that `see` names, has this value."""

    field: str
    value: Any


def operation(
    name: str,
    summary: str,
    *,
    tag: str,
    answer: Any = None,
    code: int | tuple[int, str] = 200,
    takes: Any = None,
    query: type[serializers.Serializer] | None = None,
    refuses: Sequence[int] = (),
    more: dict[int, Any] | None = None,
    quote: QuotedBy | None = None,
    done: DoneWhen | None = None,
    undone: Mapping[int, str] | None = None,
) -> Callable[[Handler], Handler]:
    """Describe a handler: what it takes and answers, and with which codes it refuses.

    Programs that ask a person before they call read `quote`, and those that wait `done`. `undone` says in a sentence
    of an answer with this code that it is none with what was called for.

    What it does not take, in the body or the query string, is refused before it runs.
    """
    refusals: dict[int, Any] = dict.fromkeys(sorted({400, 401, 429, *refuses}), ErrorAnswer)
    # By the server in front, which has no shape for it.
    refusals[414] = OpenApiResponse(description="The address is longer than 8,190 bytes.")
    describe = extend_schema(
        operation_id=name,
        summary=summary,
        tags=[tag],
        request=takes,
        parameters=[query] if query else None,
        responses={code: answer, **(more or {}), **refusals},
        extensions={
            **({"x-quote": asdict(quote)} if quote else {}),
            **({"x-done": asdict(done)} if done else {}),
            **({"x-undone": {str(status): said for status, said in undone.items()}} if undone else {}),
        },
    )

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def checked(view: APIView, request: Request, *args: Any, **kwargs: Any) -> Any:
            refuse_unknown(request.query_params, query)
            refuse_unknown(request.data, _shape_for(request, takes))
            return handler(view, request, *args, **kwargs)

        return cast(Handler, describe(checked))

    return decorate


def _shape_for(request: Request, takes: Any) -> type[serializers.Serializer] | None:
    """Of several by content type, the one that this request was sent as."""
    if not isinstance(takes, dict):
        return cast("type[serializers.Serializer] | None", takes)
    sent_as = str(request.content_type).partition(";")[0]
    return cast("type[serializers.Serializer]", takes.get(sent_as) or next(iter(takes.values())))


def refuse_unknown(given: Any, shape: type[serializers.Serializer] | None) -> None:
    """Raises ValidationError that names the fields that the shape does not have; without a shape there are none."""
    known = shape().fields if shape else {}
    if faults := dict(islice(_unknown(given, known, ""), MOST_NAMED)):
        raise serializers.ValidationError(faults)


def _unknown(given: Any, known: Mapping[str, Any], place: str) -> Iterator[tuple[str, list[str]]]:
    """(place, sentences) of each; what is no object is left to the checks of its field."""
    for name, value in given.items() if isinstance(given, Mapping) else ():
        if name not in known:
            there = f"There are: {', '.join(known)}." if known else "Nothing is taken here."
            yield place + name[:LONGEST_NAME], [f"Unknown field. {there}"]
        elif isinstance(known[name], serializers.ListSerializer):
            inner = known[name].child.fields
            for i, one in enumerate(value if isinstance(value, list) else ()):
                yield from _unknown(one, inner, f"{place}{name}[{i}].")
        elif isinstance(known[name], serializers.Serializer):
            yield from _unknown(value, known[name].fields, f"{place}{name}.")
