from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from hits import tasks
from hits.domain import notices
from hits.flow.setup import notice_addresses, noticing
from hits.management.commands._base import SHOWN, FlowCommand
from hits.management.commands.create_project import lead_named

WHERE = ("page", "email")


class Command(FlowCommand):
    help = "List what a lead was told, newest first; mark it as seen, choose which notices are wanted, set the address."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", nargs="?", help="without one, only --tell does something")
        parser.add_argument("--project", default="", help="only of this project, by its slug")
        parser.add_argument("--new", action="store_true", help="only what is neither seen nor over")
        parser.add_argument("--seen", action="store_true", help="mark what is there as seen")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KIND=page,email",
            help="where notices of a kind are wanted: page, email, both, or nothing behind the sign",
        )
        parser.add_argument("--email", metavar="ADDRESS", help="where letters go; empty: no letters")
        parser.add_argument("--tell", action="store_true", help="first write and send what is due in all projects")

    def run(self, options: dict[str, Any]) -> None:
        if options["tell"]:
            self.say(f"{tasks.tell_members():,} new.")
        if options["username"] is None:
            if not options["tell"]:
                raise CommandError("Name a lead, or say --tell.")
            return
        user = lead_named(options["username"])
        wanted = dict(_choice(text) for text in options["set"])
        with transaction.atomic():
            if options["email"]:
                notice_addresses.set_by_administrator(user, options["email"])
            elif options["email"] is not None:
                notice_addresses.remove(user)
            noticing.choose(user, wanted)
        user.refresh_from_db()
        rows = notices.seen_by(user, options["project"]).select_related("project").order_by("-told_at", "-pk")
        shown = list((rows.filter(notices.NEW) if options["new"] else rows)[:SHOWN])
        self.table(["told (UTC)", "state", "project", "notice"], [_row(row) for row in shown])
        if options["seen"]:
            noticing.mark_seen(user, timezone.now(), options["project"])
        self.say()
        choices = notices.choices_of(user)
        self.table(["kind", "page", "email"], [[one.kind, _said(one.on_page), _said(one.by_email)] for one in choices])
        self.say(notices.why_no_email(user) or f"Letters go to {user.email}.")


def _row(row: Any) -> list[object]:
    state = "new" if row.is_new else "over" if row.ended_at else "seen"
    return [f"{row.told_at:%Y-%m-%d %H:%M}", state, row.project.slug, notices.in_full(row)]


def _said(wanted: bool) -> str:
    return "yes" if wanted else "no"


def _choice(text: str) -> tuple[str, tuple[bool, bool]]:
    """Raises CommandError."""
    kind, sign, where = text.partition("=")
    places = {word for word in where.split(",") if word}
    if not sign or not places <= set(WHERE):
        raise CommandError(f"{text!r} is no KIND=page,email. Nothing was changed.")
    return kind, ("page" in places, "email" in places)
