"""What passes between a recipe's steps and the verbs: plain rows, no database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from hits.text.plugins import Kind

Json = dict[str, Any]
# Where a document keeps cells of its row by column: those that the recipe does not use, or all of them. No document has
# another key of this name.
UNUSED = "columns"
# What the name of a model begins with where a worker's id stands. No worker's id has a colon.
MODEL = "model:"
# Where an item keeps the id of the worker who wrote it. It stands in no row that is made of the item.
AUTHOR = "author"


@dataclass(frozen=True)
class SourceSuggestion:
    """What a model proposes for a field of an item, as the stage's protocol keeps it; `score` is from 0 to 1."""

    field: str
    value: Any
    score: float | None = None
    model: str = ""


@dataclass(frozen=True)
class SourceItem:
    """`key` is unique within its stage; `data` is what that stage's protocol asks.

    No `stage` means the first one with a crowd. Items with a higher `priority` are published first. Recipes leave
    priority and suggestions alone: an import reads them from columns of the row (`hits.items.rules.item_columns`).
    """

    key: str
    data: Json
    stage: str = ""
    priority: float | None = None
    suggestions: tuple[SourceSuggestion, ...] = ()


@dataclass(frozen=True)
class SourceDocument:
    """A text with its items. `line` and `place` say where it stood in the file. `data` may hold `UNUSED`: texts by the
    names of columns.

    One without items is not stored: `note` says why, as a sentence that fits all such documents of the file. Of one
    that is stored it says what of it is not used, if there is such a thing.
    """

    key: str
    origin: str
    data: Json
    items: tuple[SourceItem, ...]
    line: int | None = None
    place: str = ""
    note: str = ""


@dataclass(frozen=True)
class GivenLabel:
    """A label that counts, with the worker who gave it and the assignment that it came with.

    Of an item that models decided, `worker` is `MODEL` and the model's name and version, and `assignment` no
    assignment.
    """

    worker: str
    assignment: str
    unit: str
    value: Any
    correct: bool | None


@dataclass(frozen=True)
class JudgedItem:
    """An item and what its stage's rule concluded from the labels that count.

    `outcome` is kept, dropped, open, or withdrawn (made from an answer that does not count); `conclusion` is the rule's
    own word, such as "valid", and `parts` holds one for each group of units where the rule judges groups. Labels come
    in the order of submission; with `by_models` no worker was asked, and they are those of a model. `computed` is what
    a computation that was asked for concluded about the item, None where it concluded nothing.
    """

    stage: str
    key: str
    data: Json
    document_key: str
    document: Json
    origin: str
    purpose: str
    outcome: str
    conclusion: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[GivenLabel, ...] = ()
    computed: Json | None = None
    by_models: bool = False


@dataclass(frozen=True)
class NewDocument:
    """A text that a worker wrote, as a document of its own. `key` is unique within the project."""

    key: str
    data: Json


@dataclass(frozen=True)
class NextItem:
    """An item for a later stage, about the same document or about a new one. `key` is unique within that stage.

    `parent` is the (stage, key) of the item that it was drawn from; what follows from a verdict has it anyway. `source`
    is the assignment whose answer it was made from, such as the one that wrote its question: when that answer stops
    counting, the item is taken back, and when it counts again, the item comes back.
    """

    stage: str
    key: str
    data: Json
    parent: tuple[str, str] | None = None
    document: NewDocument | None = None
    source: str = ""


@dataclass(frozen=True)
class ChainItem:
    """An item of the first stage with a crowd and the stages whose verdict keeps it, without a gap, in order."""

    document_key: str
    key: str
    origin: str
    purpose: str
    document: Json
    data: Json
    kept_in: tuple[str, ...]


@dataclass(frozen=True)
class ReleasedItem:
    """An item that a release has, with its split. Those of one `group`, such as all about one text, go the same way.

    `note` is what the recipe wants to know of it at the next release, 20 characters at most.
    """

    key: str
    group: str
    split: str
    note: str = ""


class Collected(Protocol):
    """A project's rows as steps over the whole collection read them; every iterator is a stream over the tables."""

    seed: int
    pseudonym_key: str
    """Workers' pseudonyms are made with it, and the order of answers in test; it stands in no release."""
    options: Json
    plugins: Sequence[Path]
    """Folders of the installation that bring models of their own; see `hits.text.plugins`."""

    def settings(self, stage: str) -> Json:
        """What a stage's protocol was told, such as the choices for all items."""

    def chain(self) -> Iterator[ChainItem]:
        """The kept items of the first stage with a crowd, ordered by document and key."""

    def judged(self, stage: str, *, labels: bool = False, computation: str = "") -> Iterator[JudgedItem]:
        """Every item of a stage, ordered by document and key.

        Its labels, and what the newest finished run of a computation found, are read only where they are asked for.
        """

    def outcomes(self, stage: str) -> Iterator[tuple[str, str]]:
        """(key, outcome) of each item that `judged` gives, in any order."""

    def released(self) -> Iterator[ReleasedItem]:
        """What releases had so far, also those that were withdrawn; see `hits.recipes.dealing`."""

    def found(self, computation: str) -> Iterator[tuple[str, Json]]:
        """(item key, result) of the newest finished run of a computation, by key; nothing where there is none."""


@dataclass(frozen=True)
class Progress:
    """Where a computation is. An `entry` is kept in its log; from a `checkpoint` it can go on after a crash.

    What was found before a checkpoint is not found again by whoever goes on from it. With `anew`, the checkpoint that
    was given belongs to other rows: everything found and noted so far is dropped. A `summary` is small: it is what is
    read of many runs together, where reading their logs would take long. `workers` has an estimate of each worker, as
    0..1 by worker id; it is written when the run is concluded.
    """

    done: int
    total: int
    entry: Json | None = None
    checkpoint: Json | None = None
    anew: bool = False
    summary: Json | None = None
    workers: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Found:
    """What a computation concludes about one item of its stage.

    Of an item that comes again, the newer conclusion is merged into the older one, dictionary by dictionary.
    """

    key: str
    data: Json


@dataclass(frozen=True)
class Option:
    """What a lead reads about a value that can be changed: of a recipe's options or a computation's parameters.

    `label` names it on the page, `unit` says what is counted, `help` what changes with it and since when, and `paper`
    is the paper's value with its section, or that the paper states none. A text with `choices` is one of them, each
    with its words; a number is `least` or more, and `most` or less.
    """

    label: str = ""
    unit: str = ""
    help: str = ""
    paper: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Outside:
    """How a model that runs elsewhere takes part in a computation: files go out, one file comes back.

    `parameter` is the computation's parameter that names its model. `sends` and `takes` say what the files hold, each
    in a sentence or two. `write(collected, params, seed)` yields (file name, its content in pieces); `read(collected,
    params, seed, stream)` yields what `run` yields, and raises FormatErrors with every fault of the file.
    """

    parameter: str
    sends: str
    takes: str
    write: Callable[[Collected, Json, int], Iterable[tuple[str, Iterable[bytes]]]]
    read: Callable[[Collected, Json, int, BinaryIO], Iterator[Progress | Found]]


@dataclass(frozen=True)
class Computation:
    """A step over a whole stage that takes no crowd, such as choosing which candidate to replace.

    `run(collected, params, seed, checkpoint)` yields Progress while it works and one Found an item. The same
    rows, parameters and seed give the same results. `params` are the defaults that a lead may change, and `options`
    says what each means; `explained` has a sentence for names in the log's entries that do not say enough.
    `table(item's data, result)` tells a result as rows by column; without it a result is shown as it is stored.
    `models` has the kind of the models among which a parameter chooses by name; `outside` lets others take part.
    """

    key: str
    title: str
    description: str
    stage: str
    params: Json
    run: Callable[[Collected, Json, int, Json | None], Iterator[Progress | Found]]
    explained: Mapping[str, str] = field(default_factory=dict)
    table: Callable[[Json, Json], Sequence[Mapping[str, str | Sequence[str]]]] | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    models: Mapping[str, Kind] = field(default_factory=dict)
    outside: Outside | None = None


@dataclass(frozen=True)
class DrawSource:
    """What the sample of a stage is drawn from: results of `stages`, and of a run of `computation`, if it needs one."""

    stages: tuple[str, ...]
    computation: str = ""


@dataclass(frozen=True)
class ToldItem:
    """An item that a row of a release came from, in a split whose labels are told.

    `groups` are those of its units of which there are rows, such as `q3`; None: all of its units.
    """

    key: str
    split: str
    groups: frozenset[str] | None = None


@dataclass(frozen=True)
class ReleaseContent:
    """Files by name, whole or as streams, and what the manifest says about them.

    `tables` are for loaders: of each table the file of each split, by the table's name; the first is the usual one. The
    files of one table have the same columns with the same types. A split without a row is left out: loaders refuse it.

    `check` finds out what the files give away, while they can be read; see `hits.text.filtering.artefacts`.

    `told` streams, by the key of a stage, the items of which a release may tell labels: not those of a split whose
    labels are hidden. `splits` streams every item of the files with its split: later releases keep it there.
    `written` has the name of the units that people or programs wrote, such as questions, with how many there are, and
    `funnel` has them by what became of them: each is in one line, so the lines add up to all.
    `aggregated` says how each of these stages was aggregated, and `pages` which file has the page of
    a stage; the flow fills both in.
    """

    files: Mapping[str, bytes | BinaryIO]
    counts: dict[str, int]
    left_out: dict[str, int] = field(default_factory=dict)
    statistics: Json = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    check: Callable[[], Json] | None = None
    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    told: Mapping[str, Callable[[], Iterator[ToldItem]]] = field(default_factory=dict)
    splits: Callable[[], Iterable[ReleasedItem]] | None = None
    written: tuple[str, int] = ("", 0)
    funnel: Mapping[str, int] = field(default_factory=dict)
    aggregated: Sequence[Json] = ()
    pages: Sequence[Json] = ()
