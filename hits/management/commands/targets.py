from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from hits.flow.data import correcting
from hits.management.commands._base import StageCommand, rows_after
from hits.management.commands._places import PLACE_HELP, choose, find, written
from hits.models import Item, Stage
from hits.protocols.optional import MarkedSentence

_CORRECTIONS = ("add_sentence", "add_phrase", "remove")


class Command(StageCommand):
    changing = ("add_sentence", "add_phrase", "remove", "undo")
    help = (
        "List the texts of a stage with how many sentences and phrases are asked about, or show those of one text; "
        "with options, correct them before it goes out, all at once. A sentence that comes or goes does so in the "
        f"other part of the text too. {PLACE_HELP}"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("text", nargs="?", help="its key; without it, the first texts are listed")
        parser.add_argument("--after", default="", metavar="KEY", help="list the texts after this one")
        for name, told in (
            ("--add-sentence", "ask about this sentence too; may be given several times, as the next two"),
            ("--add-phrase", "ask about this phrase of a sentence that is asked about"),
            ("--remove", "ask no longer about this sentence or phrase"),
        ):
            parser.add_argument(name, action="append", default=[], metavar="PLACE", help=told)
        parser.add_argument("--undo", action="store_true", help="take the newest correction back that stands")

    def run(self, options: dict[str, Any]) -> None:
        stage = self.stage(options)
        correcting.marked_protocol_for(stage)
        corrects = any(options[name] for name in _CORRECTIONS)
        if options["text"] is None:
            if corrects or options["undo"]:
                raise CommandError("Say which text: its key, as it is listed.")
            return self._list(stage, options["after"])
        if corrects and options["undo"]:
            raise CommandError("--undo goes alone. Nothing was changed.")
        item = _text(stage, options["text"])
        if options["undo"]:
            self.say(_told(correcting.undo(item, None)))
        elif corrects:
            self.say(_told(correcting.correct(item, _wanted(item, options), correcting.fingerprint(item), None)))
        return self._show(item)

    def _list(self, stage: Stage, after: str) -> None:
        marked = correcting.marked_protocol_for(stage).marked
        found = [(item, marked(item.data)) for item in rows_after(stage, stage.items.all(), after)]
        head = ["text", "state", "sentences", "phrases"]
        self.table(
            head,
            [
                (item.key, item.get_state_display(), len(own), sum(len(one.phrases) for one in own))
                for item, own in found
            ],
        )

    def _show(self, item: Item) -> None:
        text = item.document.data["text"]
        self.say(text)
        self.say()
        for one in correcting.marked_protocol_for(item.stage).marked(item.data):
            self.say(f"{written((one.start, one.end))}  {text[one.start : one.end]}")
            for phrase in one.phrases:
                self.say(f"    {written(phrase)}  {text[slice(*phrase)]}")
        if note := correcting.note(item):
            self.say(note)
        if correcting.published(Item.objects.filter(pk=item.pk)).exists():
            self.say("It is published, so its sentences and phrases can no longer change.")


def _text(stage: Stage, key: str) -> Item:
    item = stage.items.select_related("document").filter(key=key).first()
    if item is None:
        raise CommandError(f"There is no text {key!r} in {stage.key}.")
    item.stage = stage
    return item


def _told(count: int) -> str:
    return {0: "Nothing was different.", 1: "Done."}.get(count, "Done, in the other part of this text too.")


def _wanted(item: Item, options: dict[str, Any]) -> list[MarkedSentence]:
    """What would be asked about. Raises CommandError for a place that is not there, or that is not one place."""
    text = item.document.data["text"]
    marked = {
        (one.start, one.end): list(one.phrases) for one in correcting.marked_protocol_for(item.stage).marked(item.data)
    }
    there = [*marked, *(phrase for phrases in marked.values() for phrase in phrases)]
    gone = {choose(said, text, there) for said in options["remove"]}
    left = {span: [one for one in phrases if one not in gone] for span, phrases in marked.items() if span not in gone}
    for said in options["add_sentence"]:
        left.setdefault(find(said, text), [])
    for said in options["add_phrase"]:
        start, end = find(said, text, within=left)
        around = next((span for span in left if span[0] <= start and end <= span[1]), None)
        if around is None:
            raise CommandError(f"{said!r} is in no sentence that is asked about. Add its sentence with --add-sentence.")
        left[around].append((start, end))
    return [MarkedSentence(*span, tuple(sorted(phrases))) for span, phrases in sorted(left.items())]
