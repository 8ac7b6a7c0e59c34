from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from hits.flow.data import annotating
from hits.management.commands._base import ProjectCommand
from hits.management.commands._places import PLACE_HELP, choose, find, written
from hits.management.commands.queries import article_of, articles_of
from hits.protocols.optional import MentionCorrection
from hits.text.entities import TYPES
from hits.text.passage_queries import CONDITIONS, entity_names

NEW, NONE = "new", "none"


def numbered(letter: str) -> Any:
    """For `s3` or `e3`, as ids of queries count sentences and entities; argparse shows the refusal."""

    def read(text: str) -> int:
        found = re.fullmatch(rf"{letter}(\d{{1,6}})", text, re.ASCII)
        if not found:
            raise ArgumentTypeError(f"{text!r} is not of the form {letter}0")
        return int(found[1])

    return read


def entity(text: str) -> int | str:
    return text if text in (NEW, NONE) else int(numbered("e")(text))


class Command(ProjectCommand):
    changing = ("add", "change", "remove")
    help = (
        "List the mentions of an article, or correct one of them; what drops its sentences is computed anew. "
        "`queries PROJECT ARTICLE --undo` takes the newest correction back, `annotations` replaces all mentions by a "
        f"file. {PLACE_HELP}"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("article", help="its key, as `queries` lists it")
        parser.add_argument(
            "--in", type=numbered("s"), dest="sentence", metavar="s0", help="in this sentence; else in the passage"
        )
        verbs = parser.add_mutually_exclusive_group()
        verbs.add_argument("--add", metavar="PLACE", help="a new mention; it needs --type")
        verbs.add_argument("--change", metavar="PLACE", help="a mention: its words, its type or its entity")
        verbs.add_argument("--remove", metavar="PLACE")
        parser.add_argument("--to", metavar="PLACE", help="change: the words that it is then")
        parser.add_argument("--type", choices=list(TYPES), help="add, change: what kind of entity it names")
        parser.add_argument(
            "--entity",
            type=entity,
            metavar="e0",
            help=f"add, change: the entity of the passage; {NEW!r} in the passage, {NONE!r} in a sentence where it is "
            "no known one, which is what a mention has that is added without this",
        )

    def run(self, options: dict[str, Any]) -> None:
        item = article_of(articles_of(self.project(options)), options["article"])
        wanted = _correction(item.data, options)
        if wanted and not annotating.correct(item, wanted, annotating.fingerprint(item), None):
            self.say("Nothing was different.")
        self._show(item.data)

    def _show(self, data: dict[str, Any]) -> None:
        self.say(data["text"])
        for number, one in enumerate(data["sentences"]):
            why = f" ({CONDITIONS[one['dropped']]})" if one["dropped"] else ""
            self.say(f"s{number}: {one['text']}{why}")
        rows = [("passage", *_row(data["text"], one)) for one in data["mentions"]]
        for number, sentence in enumerate(data["sentences"]):
            rows += [(f"s{number}", *_row(sentence["text"], one)) for one in sentence["mentions"]]
        self.table(["in", "place", "type", "entity", "words"], rows)


def _row(text: str, one: Mapping[str, Any]) -> tuple[str, str, str, str]:
    span = (one["start"], one["end"])
    return written(span), one["type"], NONE if one["entity"] is None else f"e{one['entity']}", text[slice(*span)]


def _correction(data: dict[str, Any], options: dict[str, Any]) -> MentionCorrection | None:
    """None where nothing is to be corrected. Raises CommandError for what is not there, or does not go together."""
    _refuse_wrong_options(options)
    number = options["sentence"]
    if number is not None and number >= len(data["sentences"]):
        raise CommandError(f"There is no sentence s{number}: the article has {len(data['sentences']):,}, from s0 on.")
    own = data if number is None else data["sentences"][number]
    text, known = own["text"], {(one["start"], one["end"]): one for one in own["mentions"]}
    if options["add"] is not None:
        start, end = find(options["add"], text)
        return MentionCorrection(number, None, (start, end, options["type"], _entity(data, options, None)))
    if options["change"] is not None:
        one = known[choose(options["change"], text, known)]
        start, end = (one["start"], one["end"]) if options["to"] is None else find(options["to"], text)
        wanted = (start, end, options["type"] or one["type"], _entity(data, options, one["entity"]))
        return MentionCorrection(number, one["start"], wanted)
    if options["remove"] is not None:
        return MentionCorrection(number, choose(options["remove"], text, known)[0], None)
    return None


def _refuse_wrong_options(options: dict[str, Any]) -> None:
    verb = next((name for name in ("add", "change", "remove") if options[name] is not None), "")
    for name, verbs in (("to", ("change",)), ("type", ("add", "change")), ("entity", ("add", "change"))):
        if options[name] is not None and verb not in verbs:
            raise CommandError(f"--{name} goes with --{' and --'.join(verbs)}. Nothing was changed.")
    if verb == "add" and options["type"] is None:
        raise CommandError("Say with --type what kind of entity the new mention names. Nothing was changed.")


def _entity(data: dict[str, Any], options: dict[str, Any], own: int | None) -> int | None:
    """The number that is wanted; None is a new entity in the passage, and none of the passage's in a sentence."""
    said = options["entity"]
    if said is None:
        return own
    known, other = entity_names(data), NEW if options["sentence"] is None else NONE
    if said == other:
        return None
    if said not in known:
        name, there = said if isinstance(said, str) else f"e{said}", ", ".join(f"e{one}" for one in sorted(known))
        raise CommandError(f"{name} is no entity here. There are: {there}, or {other!r}. Nothing was changed.")
    return int(said)
