"""Messages to workers, their templates, one text to many, and the inbox."""

from __future__ import annotations

from django.core.validators import MaxLengthValidator
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import ProjectView, StageView, Started, operation, started
from hits.api.paging import LARGEST_ID, PageQuery, asked, page, page_of, sent
from hits.api.shapes import Shape, UsernameField
from hits.core.jobs import queue
from hits.models import InboxEntry
from hits.people.api.message_templates import NAMES, TAG
from hits.people.models import LONGEST_SUBJECT, LONGEST_TEXT, LONGEST_WRITTEN
from hits.people.rules import recipients
from hits.people.rules.inbox import SHOWN
from hits.people.verbs import inbox, messaging
from hits.text.language.amounts import amount_is
from hits.workers.api.shapes import ByHandQuery

_CONFIRMATION = r"\A[A-Za-z0-9_-]{8,40}\Z"
_AGAIN = "Of your choice, for these words. Sent again with them, it writes to nobody a second time."


class MessageStage(Shape):
    recipients = serializers.ChoiceField(sorted(recipients.WAYS))
    subject = serializers.CharField(max_length=LONGEST_SUBJECT)
    text = serializers.CharField(max_length=LONGEST_TEXT, help_text=f"Placeholders: {NAMES}.")
    confirmation = serializers.RegexField(_CONFIRMATION, help_text=_AGAIN)


class InboxShape(Shape):
    id = serializers.IntegerField()
    worker_id = serializers.CharField(source="worker.worker_id")
    stage = serializers.CharField(source="stage.key")
    kind = serializers.SerializerMethodField(help_text="`remark` with an answer, or `reply` to a message.")
    answer = serializers.IntegerField(source="assignment_id", allow_null=True, help_text="Of a remark, its answer.")
    message = serializers.IntegerField(source="message_id", allow_null=True, help_text="Of a reply, the message.")
    text = serializers.CharField(source="said")
    at = serializers.DateTimeField()
    state = serializers.SerializerMethodField(help_text="`open` or `answered`.")
    answered_at = serializers.DateTimeField(allow_null=True)
    answered_by = UsernameField("answered_by")
    answered_with = serializers.IntegerField(
        source="answered_with_id", allow_null=True, help_text="The message that answered it; null: it was marked."
    )

    def get_kind(self, entry: InboxEntry) -> str:
        return "reply" if entry.message_id else "remark"

    def get_state(self, entry: InboxEntry) -> str:
        return "answered" if entry.answered_at else "open"


class InboxQuery(PageQuery):
    state = serializers.ChoiceField(sorted(SHOWN), default="open")


class InboxEntries(Shape):
    entries = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID),
        allow_empty=False,
        validators=[MaxLengthValidator(inbox.MOST_AT_ONCE)],
        help_text="Ids of entries of the inbox.",
    )


class InboxChanged(Shape):
    changed = serializers.IntegerField(help_text="Entries that were in the other state before.")


class InboxReply(Shape):
    subject = serializers.CharField(max_length=LONGEST_SUBJECT)
    text = serializers.CharField(max_length=LONGEST_TEXT)
    confirmation = serializers.RegexField(_CONFIRMATION, help_text=_AGAIN)


class OneMessage(Shape):
    worker_id = serializers.CharField(max_length=64)
    text = serializers.CharField(max_length=LONGEST_TEXT, help_text=f"At most {LONGEST_WRITTEN:,} characters.")


class WriteMessages(Shape):
    subject = serializers.CharField(max_length=LONGEST_SUBJECT)
    messages = OneMessage(many=True, allow_empty=False)
    confirmation = serializers.RegexField(
        r"\A[A-Za-z0-9_-]{8,40}\Z", help_text="Of your choice. Sent again, it writes to nobody a second time."
    )


class MessageShape(Shape):
    id = serializers.IntegerField()
    worker_id = serializers.CharField(source="worker.worker_id")
    stage = serializers.CharField(source="stage.key")
    subject = serializers.CharField()
    text = serializers.CharField()
    state = serializers.CharField(help_text="`planned`, `sent`, `unknown` (perhaps sent) or `refused`.")
    error = serializers.CharField()
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    sent_at = serializers.DateTimeField(allow_null=True)


class WriteToStage(StageView):
    @operation(
        "messages_send_to_stage",
        "Write one text to many workers of the stage, with placeholders; each message is sent once",
        tag=TAG,
        takes=MessageStage,
        code=202,
        answer=Started,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        new = messaging.write_to(self.stage, **sent(request, MessageStage), user=self.user)
        queue.start(tasks.send_messages, self.project.pk)
        return started(f"{amount_is(new, 'message')} being sent.", self.address("messages"))


class Inbox(ProjectView):
    @operation(
        "inbox_list",
        "What workers wrote: remarks with their answers, and replies to messages",
        tag=TAG,
        query=InboxQuery,
        answer=page_of(InboxShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        rows = self.project.inbox.filter(SHOWN[asked(request, InboxQuery)["state"]])
        return page(request, rows.select_related("worker", "stage", "assignment", "answered_by"), InboxShape)


class MarkAnswered(ProjectView):
    @operation(
        "inbox_mark_answered",
        "Mark entries of the inbox as answered",
        tag=TAG,
        takes=InboxEntries,
        answer=InboxChanged,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        return Response({"changed": inbox.mark_answered(self.project, _entries(request), self.user)})


class OpenAgain(ProjectView):
    @operation(
        "inbox_open_again",
        "Open entries of the inbox again",
        tag=TAG,
        takes=InboxEntries,
        answer=InboxChanged,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        return Response({"changed": inbox.open_again(self.project, _entries(request), self.user)})


class ReplyToWorker(ProjectView):
    @operation(
        "inbox_reply",
        "Answer an entry of the inbox by a message, which marks it as answered",
        tag=TAG,
        takes=InboxReply,
        code=202,
        answer=Started,
        refuses=[404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        entry = get_object_or_404(self.project.inbox.select_related("worker", "stage"), pk=pk)
        entry.stage.project = self.project
        wanted = sent(request, InboxReply)
        texts = {entry.worker.worker_id: wanted["text"]}
        messaging.write(entry.stage, wanted["subject"], texts, wanted["confirmation"], self.user, answers=entry)
        queue.start(tasks.send_messages, self.project.pk)
        return started("The answer is being sent.", self.address("messages"))


def _entries(request: Request) -> list[int]:
    return list(sent(request, InboxEntries)["entries"])


class WriteToWorkers(StageView):
    @operation(
        "messages_drafts",
        "A draft of a message to each of these workers, with the worker's own mistakes; sends nothing",
        tag="Quality",
        query=ByHandQuery,
        answer=OneMessage(many=True),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        ids = asked(request, ByHandQuery)["worker_id"][: messaging.MOST_AT_ONCE]
        stats = self.stage.worker_stats.filter(worker__worker_id__in=ids).select_related("worker")
        drafts = [
            {"worker_id": stat.worker.worker_id, "text": messaging.draft(self.stage, stat.worker)[1]}
            for stat in stats.order_by("worker__worker_id")
        ]
        return Response(OneMessage(drafts, many=True).data)

    @operation(
        "messages_send",
        "Write to workers of the stage; each message is sent once",
        tag="Quality",
        takes=WriteMessages,
        code=202,
        answer=Started,
        refuses=[404, 409, 503],
    )
    def post(self, request: Request, **address: str) -> Response:
        wanted = sent(request, WriteMessages)
        texts = {one["worker_id"]: one["text"] for one in wanted["messages"]}
        messaging.write(self.stage, wanted["subject"], texts, wanted["confirmation"], self.user)
        queue.start(tasks.send_messages, self.project.pk)
        return started("The messages are being sent.", self.address("messages"))


class Messages(ProjectView):
    @operation(
        "messages_list",
        "Every message to a worker of the project",
        tag="Quality",
        query=PageQuery,
        answer=page_of(MessageShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        rows = self.project.worker_messages.select_related("worker", "stage", "created_by")
        return page(request, rows, MessageShape)
