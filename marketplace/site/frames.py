"""What goes into the iframe of a task."""

from dataclasses import dataclass

from django.conf import settings

from marketplace.models import Assignment, Hit, Worker
from marketplace.rules.question import frame_url


@dataclass(frozen=True)
class Frame:
    """`height` is the requester's FrameHeight in pixels: the page gives the frame at least that."""

    url: str
    height: int


def preview_frame(hit: Hit) -> Frame:
    question = hit.external_question()
    return Frame(frame_url(question.url, hit.hit_id), question.frame_height)


def work_frame(assignment: Assignment, worker: Worker) -> Frame:
    question = assignment.hit.external_question()
    url = frame_url(
        question.url,
        assignment.hit.hit_id,
        assignment.assignment_id,
        worker.worker_id,
        settings.MARKETPLACE_PUBLIC_URL,
    )
    return Frame(url, question.frame_height)
