from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.domain import webhook_events
from hits.flow.setup import webhook_sending
from hits.flow.setup import webhooks as flow
from hits.management.commands._base import SHOWN, ProjectCommand
from hits.models import Project, Webhook, WebhookDelivery


class Command(ProjectCommand):
    changing = ("add", "change", "rotate", "test", "again")
    help = (
        "List the webhooks of a project, to which its events are posted; add, change and end some, make another "
        "secret, send a test event, list what was sent and send a message again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        one: dict[str, Any] = {"type": int, "metavar": "ID"}
        parser.add_argument("--add", metavar="ADDRESS", help="needs at least one --event; prints the secret once")
        parser.add_argument("--change", **one, help="with --address, --event, --on or --off")
        parser.add_argument("--address", help="the new address")
        parser.add_argument("--event", action="append", metavar="EVENT", help=", ".join(Webhook.Event.values))
        parser.add_argument("--on", action="store_true", help="switch it on")
        parser.add_argument("--off", action="store_true", help="switch it off: what waits waits on")
        parser.add_argument("--rotate", **one, help="print another secret; for a day both sign")
        parser.add_argument("--test", **one, help="send a test event")
        parser.add_argument("--end", **one, help="end it: nothing more is sent, not even what waits")
        parser.add_argument("--deliveries", **one, help="list what was and is to be sent to it, newest first")
        parser.add_argument("--state", choices=WebhookDelivery.State.values, help="of --deliveries")
        parser.add_argument("--before", **one, help="of --deliveries: those with smaller ids")
        parser.add_argument("--again", **one, help="send this message once more")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["on"] and options["off"]:
            raise CommandError("Give --on or --off, not both. Nothing was changed.")
        if options["deliveries"] is not None:
            return self._deliveries(_hook(project, options["deliveries"]), options)
        if options["add"] is not None:
            row, secret = flow.add(project, options["add"], options["event"] or [], None)
            self._secret(row, secret)
        if options["change"] is not None:
            self._change(_hook(project, options["change"]), options)
        if options["rotate"] is not None:
            row = _hook(project, options["rotate"])
            self._secret(row, flow.rotate(row, None))
        if options["end"] is not None:
            flow.end(_hook(project, options["end"]), None)
        if options["test"] is not None:
            self._sent(_tried(_hook(project, options["test"])))
        if options["again"] is not None:
            sent = _delivery(project, options["again"])
            flow.send_again(sent, None)
            self._sent(sent)
        return self._list(project)

    def _change(self, row: Webhook, options: dict[str, Any]) -> None:
        active = True if options["on"] else False if options["off"] else None
        if (options["address"], options["event"], active) == (None, None, None):
            raise CommandError("Say what to change: --address, --event, --on or --off. Nothing was changed.")
        flow.change(row, None, address=options["address"], events=options["event"], active=active)

    def _secret(self, row: Webhook, secret: str) -> None:
        self.say(f"The secret of webhook {row.pk}, which is not shown again:\n{secret}\n")

    def _sent(self, row: WebhookDelivery) -> None:
        """Posted here and now, unless another process is at it; then that one takes it up."""
        webhook_sending.send()
        row.refresh_from_db()
        status = f" The answer was {row.status}." if row.status else ""
        self.say(f"Message {row.pk} ({row.event}): {row.get_state_display().lower()}.{status} {row.error}".rstrip())

    def _list(self, project: Project) -> None:
        rows = [[row.pk, row.state, row.address, " ".join(row.events), row.error or "–"] for row in _hooks(project)]
        self.table(["webhook", "state", "address", "events", "last fault"], rows)

    def _deliveries(self, row: Webhook, options: dict[str, Any]) -> None:
        rows = row.deliveries.order_by("-id")
        if options["state"]:
            rows = rows.filter(state=options["state"])
        if options["before"] is not None:
            rows = rows.filter(pk__lt=options["before"])
        found = list(rows[: SHOWN + 1])
        cells = [
            [one.pk, one.event, webhook_events.about(one.body) or "–", f"{one.created_at:%Y-%m-%d %H:%M:%S}",
             one.get_state_display(), one.attempts, one.status or "–", one.error or "–"]
            for one in found[:SHOWN]
        ]  # fmt: skip
        self.table(["message", "event", "about", "written (UTC)", "state", "attempts", "answer", "last fault"], cells)
        if len(found) > SHOWN:
            self.say(f"There are more: --before {found[SHOWN - 1].pk}")


def _tried(row: Webhook) -> WebhookDelivery:
    flow.try_out(row, None)
    return row.deliveries.latest("pk")


def _hooks(project: Project) -> list[Webhook]:
    return list(project.webhooks.standing().order_by("pk"))


def _hook(project: Project, pk: int) -> Webhook:
    found = project.webhooks.select_related("project").filter(pk=pk).first()
    if found is None:
        there = ", ".join(str(row.pk) for row in _hooks(project)) or "none"
        raise CommandError(f"{project.slug} has no webhook {pk}. There are: {there}. Nothing was changed.")
    return found


def _delivery(project: Project, pk: int) -> WebhookDelivery:
    rows = WebhookDelivery.objects.filter(webhook__project=project).select_related("webhook__project")
    found = rows.filter(pk=pk).first()
    if found is None:
        raise CommandError(f"{project.slug} has no message {pk}: --deliveries lists them. Nothing was changed.")
    return found
