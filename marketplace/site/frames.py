"""What goes into the iframe of a task, and who may see it."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.core import signing

from marketplace.models import Assignment, Hit, HitLayout, HitType, Worker
from marketplace.rules.question import NO_ASSIGNMENT, frame_url
from marketplace.rules.questions.html import read_html_question
from marketplace.rules.questions.kinds import EXTERNAL, HTML
from marketplace.rules.questions.xml import parse_stored
from marketplace.site.language import in_address
from marketplace.verbs import frames

# Time between the page and its frame; a page that is opened again makes a new token.
TOKEN_SECONDS = 900
_SALT = "marketplace.frame"
_LAYOUT_SALT = "marketplace.frame.layout"
# A page elsewhere has an origin of its own and may use it; after an answer it may lead on from the frame.
_ELSEWHERE = (
    "allow-scripts allow-forms allow-same-origin allow-modals allow-popups allow-popups-to-escape-sandbox "
    "allow-top-navigation-by-user-activation"
)
# What a page elsewhere may use when a keyword of its HIT type asks for it, such as "allow-microphone". The browser
# still asks the worker about the microphone and the camera.
_FEATURES = ("fullscreen", "microphone", "camera")
_ASKING = "allow-"
# A page of a requester from our host gets no origin at all, and leads nowhere. Links that it opens are ordinary pages.
SANDBOX = "allow-scripts allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox"


@dataclass(frozen=True)
class Frame:
    """`height` is the requester's FrameHeight in pixels: the page gives the frame at least that.

    `allow` holds the features that the frame's own page may use, for the attribute of that name.
    """

    url: str
    height: int
    sandbox: str = _ELSEWHERE
    allow: str = ""


@dataclass(frozen=True)
class Ticket:
    """Whose frame it is; `assignment` is the primary key of what the worker holds, None in a preview."""

    hit: int
    worker: int
    assignment: int | None


def features(hit_type: HitType) -> list[str]:
    """What the tasks of a type ask for by keywords: of fullscreen, microphone and camera."""
    keywords = {word.strip().lower() for word in hit_type.keywords.split(",")}
    return [feature for feature in _FEATURES if _ASKING + feature in keywords]


def preview_frame(hit: Hit, worker: Worker) -> Frame:
    if hit.question_kind == EXTERNAL:
        question = hit.external_question()
        return Frame(frame_url(question.url, hit.hit_id), question.frame_height)
    return _own_frame(hit, Ticket(hit.pk, worker.pk, None), {"assignmentId": NO_ASSIGNMENT, "hitId": hit.hit_id})


def work_frame(assignment: Assignment, worker: Worker) -> Frame:
    hit = assignment.hit
    submit_to = settings.MARKETPLACE_PUBLIC_URL
    if hit.question_kind == EXTERNAL:
        question = hit.external_question()
        url = frame_url(question.url, hit.hit_id, assignment.assignment_id, worker.worker_id, submit_to)
        return Frame(url, question.frame_height, allow="; ".join(features(hit.hit_type)))
    fields = {"assignmentId": assignment.assignment_id, "hitId": hit.hit_id}
    fields |= {"workerId": worker.worker_id, "turkSubmitTo": submit_to}
    return _own_frame(hit, Ticket(hit.pk, worker.pk, assignment.pk), fields)


def _own_frame(hit: Hit, ticket: Ticket, fields: dict[str, str]) -> Frame:
    """Scripts of requesters read the fields from the address; what counts is in the token."""
    token = signing.dumps([ticket.hit, ticket.worker, ticket.assignment], salt=_SALT)
    height = read_html_question(parse_stored(hit.question)).frame_height if hit.question_kind == HTML else 0
    return Frame(f"{frames.origin()}/frame/{token}/?{urlencode(fields | in_address())}", height, SANDBOX)


def layout_frame(layout: HitLayout) -> Frame:
    """The layout as its requester's workers will see it, each placeholder filled with its own name."""
    return Frame(f"{frames.origin()}/frame/layout/{signing.dumps(layout.pk, salt=_LAYOUT_SALT)}/", 0, SANDBOX)


def layout_of(token: str) -> int:
    """The key of the layout that the token was made for. Raises signing.BadSignature."""
    key: int = signing.loads(token, salt=_LAYOUT_SALT, max_age=TOKEN_SECONDS)
    return key


def ticket_of(token: str) -> Ticket:
    """Who the token was made for. Raises signing.BadSignature, also for one that is too old."""
    hit, worker, assignment = signing.loads(token, salt=_SALT, max_age=TOKEN_SECONDS)
    return Ticket(hit, worker, assignment)
