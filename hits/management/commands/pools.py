from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.urls import reverse

from hits.domain import pool_holders, pools
from hits.domain.grant_rows import WorkersRefusedError
from hits.flow.people import granting, pooling
from hits.formats.worker_lists import MOST_BYTES
from hits.management.commands._base import ProjectCommand, share
from hits.models import Grant, Pool, Project, Stage
from hits.text.amounts import amount_is

CHANGING = (
    *("make", "rename", "archive", "take_up", "add", "file", "add_best", "remove", "share", "stop_sharing", "link"),
    *("revoke_link", "fetch"),
)


class Command(ProjectCommand):
    changing = CHANGING
    help = (
        "List the pools of a project, or who is in one; make a pool, put workers in it and take them out, let another "
        "project use it, and make links by which people join it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("pool", nargs="?", help="the pool's key, such as pool-students")
        parser.add_argument("--make", metavar="NAME", help="a new pool")
        parser.add_argument("--rename", metavar="NAME")
        parser.add_argument("--archive", action="store_true", help="only while no stage asks for it")
        parser.add_argument("--take-up", action="store_true", help="an archived pool again")
        parser.add_argument("--add", nargs="+", default=[], metavar="WORKER", help="ids at the marketplace")
        parser.add_argument("--file", metavar="FILE", help="add the ids of a file: one a line, or a CSV with worker_id")
        parser.add_argument("--remove", nargs="+", default=[], metavar="WORKER")
        parser.add_argument("--best", metavar="STAGE", help="show the best of a stage; with --add-best, add them")
        parser.add_argument("--add-best", action="store_true")
        parser.add_argument("--by", choices=list(pooling.MEASURES), default="known", help="%(default)s")
        parser.add_argument("--least", type=int, default=20, help="with so many such answers or more (%(default)s)")
        parser.add_argument("--top", type=int, default=20, help="at most so many workers (%(default)s)")
        parser.add_argument("--share", metavar="PROJECT", help="let another project use the pool")
        parser.add_argument("--stop-sharing", metavar="PROJECT", help="end that")
        parser.add_argument("--link", action="store_true", help="print a link by which people join")
        parser.add_argument("--uses", type=int, default=1, help="how many people it lets in (%(default)s)")
        parser.add_argument("--days", type=int, default=14, help="until it expires (%(default)s)")
        parser.add_argument("--note", default="", help="whom the link is for")
        parser.add_argument("--revoke-link", type=int, metavar="ID")
        parser.add_argument("--fetch", action="store_true", help="ask the marketplace who joined")

    def changes(self, options: dict[str, Any]) -> bool:
        """Revoking a link takes access away, in an archived project too."""
        return any(options[name] not in (None, False, []) for name in CHANGING if name != "revoke_link")

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        if options["make"]:
            made = pooling.create(project, options["make"], None)
            self.say(f"The pool {made.key} is made.")
            options["pool"] = made.key
        if not options["pool"]:
            if any(options[name] not in (None, False, []) for name in CHANGING):
                raise CommandError("Name the pool by its key. Nothing was changed.")
            return self._list(project)
        pool = Pool.objects.usable_in(project).select_related("project").filter(key=options["pool"]).first()
        if pool is None:
            raise CommandError(f"{project.slug} has no pool {options['pool']!r}: see pools {project.slug}.")
        if options["best"]:
            self._best(project, pool, options)
        self._change(project, pool, options)
        if any(options[name] for name in ("add", "file", "add_best", "remove")):
            granting.finish(pool.project)
        return self._show(pool)

    def _change(self, project: Project, pool: Pool, options: dict[str, Any]) -> None:
        changes = [name for name in CHANGING if name not in ("make", "stop_sharing") and options[name]]
        if changes and pool.project_id != project.pk:
            raise CommandError(f"{pool.key} belongs to {pool.project.slug}: change it there. Nothing was changed.")
        if options["rename"]:
            pooling.rename(pool, options["rename"], None)
        if options["take_up"]:
            pooling.take_up(pool, None)
        self._workers(pool, options)
        if options["share"]:
            pooling.share(pool, _project(options["share"]), None)
        if options["stop_sharing"] and not pooling.stop_sharing(pool, _project(options["stop_sharing"]), None):
            raise CommandError(f"{options['stop_sharing']} does not use {pool.key}.")
        if options["revoke_link"] is not None and not pooling.revoke_link(pool, options["revoke_link"], None):
            raise CommandError(f"No link {options['revoke_link']} of {pool.key} lets anybody in.")
        if options["link"]:
            made, token = pooling.make_link(pool, options["uses"], options["days"], None, options["note"])
            self.say(f"Link {made.pk}: {settings.PUBLIC_URL}{reverse('join-pool', args=[token])}")
        if options["fetch"]:
            new = pool_holders.fetch(pool)
            self.say(
                "Qualifications are being given at the moment. Try again." if new is None else f"{amount_is(new)} new."
            )
        if options["archive"]:
            pooling.archive(pool, None)
        pool.refresh_from_db(fields=["name", "archived_at"])

    def _workers(self, pool: Pool, options: dict[str, Any]) -> None:
        ids = list(options["add"])
        if options["file"]:
            ids += pooling.ids_of_file(_content(options["file"]))
        if ids or options["file"]:
            self.say(f"{amount_is(pooling.add(pool, ids, None), 'worker')} new in {pool.key}.")
        if options["remove"]:
            self._remove(pool, options["remove"])

    def _remove(self, pool: Pool, worker_ids: list[str]) -> None:
        standing = pools.members(pool).filter(state__in=[Grant.State.INTENDED, Grant.State.GRANTED])
        rows = {row.worker.worker_id: row for row in standing.filter(worker__worker_id__in=worker_ids).select_related()}
        if missing := [worker_id for worker_id in worker_ids if worker_id not in rows]:
            raise CommandError(f"These are not in {pool.key}: {', '.join(missing)}. None of them was taken out.")
        for row in rows.values():
            pooling.remove(pool, row, None)

    def _best(self, project: Project, pool: Pool, options: dict[str, Any]) -> None:
        stage = project.stages.filter(key=options["best"], crowd=True).first()
        if stage is None:
            raise CommandError(f"{project.slug} has no stage {options['best']!r} with a crowd. Nothing was changed.")
        stage.project = project
        asked: tuple[Stage, str, int, int] = (stage, options["by"], options["least"], options["top"])
        rows = [
            [row.stat.worker.worker_id, row.stat.answers, share(row.known), share(row.agreement)]
            for row in pooling.best(*asked)
        ]
        self.table(["worker", "answers", "gold right", "agreement"], rows)
        if options["add_best"]:
            self.say(f"{amount_is(pooling.add_best(pool, *asked, None))} new in {pool.key}.")

    def _list(self, project: Project) -> None:
        rows = list(Pool.objects.usable_in(project).select_related("project"))
        counts = pools.counts(rows)
        self.table(
            ["pool", "name", "workers", "belongs to", "state"],
            [
                [
                    row.key,
                    row.name,
                    f"{counts[row.pk]:,}",
                    row.project.slug,
                    "archived" if row.archived_at else "in use",
                ]
                for row in rows
            ],
        )

    def _show(self, pool: Pool) -> None:
        rows = pools.members(pool).exclude(state=Grant.State.WITHDRAWN).select_related("worker").order_by("id")
        shown = [[row.worker.worker_id, row.get_state_display(), row.error or "–"] for row in rows.iterator()]
        self.table(["worker", "state", "said"], shown)
        if links := list(pool.links.all()[:50]):
            joined = pooling.joined(pool)
            self.say()
            self.table(
                ["link", "for", "joined", "of", "until (UTC)", "state"],
                [
                    [one.pk, one.note or "–", joined.get(one.number, 0), one.uses, f"{one.expires_at:%Y-%m-%d %H:%M}",
                     one.ending or "open"]
                    for one in links
                ],
            )  # fmt: skip


def _project(slug: str) -> Project:
    found = Project.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no project {slug!r}. Nothing was changed.")
    return found


def _content(name: str) -> bytes:
    """No more of it than is taken. Raises WorkersRefusedError."""
    try:
        with Path(name).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise WorkersRefusedError(f"{name} cannot be read: {error.strerror}. Nothing was changed.") from error
