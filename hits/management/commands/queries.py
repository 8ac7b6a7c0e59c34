from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.flow.data import annotating
from hits.management.commands._base import ProjectCommand, rows_after
from hits.models import Item, Project, Stage
from hits.text.passage_queries import CONDITIONS, queries


def articles_of(project: Project) -> Stage:
    """The project's stage of articles. Raises CommandError."""
    stage = project.stages.select_related("summary", "project").filter(crowd=False).first()
    if stage is None or not annotating.has_annotations(stage):
        raise CommandError(f"{project.slug} has no stage in which queries are made of articles.")
    return stage


def article_of(stage: Stage, key: str) -> Item:
    """Raises CommandError."""
    item = stage.items.select_related("document").filter(key=key).first()
    if item is None:
        raise CommandError(f"There is no article {key!r}.")
    item.stage = stage
    return item


class Command(ProjectCommand):
    changing = ("take_out", "put_back", "undo")
    help = "List the articles that queries were made of, or show one; take a query out, put it back, undo a change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("article", nargs="?", help="its key; without it, all are counted and the first listed")
        parser.add_argument("--after", default="", metavar="KEY", help="list the articles after this one")
        verbs = parser.add_mutually_exclusive_group()
        verbs.add_argument("--take-out", metavar="QUERY", help="the query's id, such as s3-e2")
        verbs.add_argument("--put-back", metavar="QUERY")
        verbs.add_argument("--undo", action="store_true", help="the newest change of the article that stands")

    def run(self, options: dict[str, Any]) -> None:
        stage = articles_of(self.project(options))
        if options["article"] is None:
            return self._list(stage, options["after"])
        item = article_of(stage, options["article"])
        if options["undo"]:
            annotating.undo(item, None)
        elif query := options["take_out"] or options["put_back"]:
            annotating.drop(item, query, annotating.fingerprint(item), None, back=bool(options["put_back"]))
        self._show(item)

    def _list(self, stage: Stage, after: str) -> None:
        made = stage.summary.made
        self.say(f"{stage.summary.items:,} articles, {made.get('sentences', 0):,} sentences after their leads:")
        for code, why in CONDITIONS.items():
            self.say(f"  {made.get(code, 0):,} dropped. {why}")
        self.say(f"  {made.get('kept', 0):,} kept, {made.get('queries', 0):,} queries, {made.get('removed', 0):,} out")
        shown = rows_after(stage, stage.items.defer("data"), after)
        names = ("sentences", "kept", "queries", "removed")
        self.table(["article", *names], [[one.key, *((one.figures or {}).get(n, 0) for n in names)] for one in shown])

    def _show(self, item: Item) -> None:
        text, removed = item.data["text"], set(item.data["removed"])
        self.say(text)
        for one in queries(item.data, with_removed=True):
            names = " | ".join(dict.fromkeys(text[start:end] for start, end in one.answers))
            self.say(f"{one.id}{' (taken out)' if one.id in removed else ''}: {one.query} [{names}]")
