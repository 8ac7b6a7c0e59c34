"""Pages of the dashboard that a protocol brings for its stages: `PAGES` in `pages.py` of its folder, a list of `Page`.

A page is declared as data: templates, and functions of rows. `hits.views` reads the rows, lets only the project's leads
in, and calls the verb that a form names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hits.protocols.base import AnswerRefusedError, Json

SLUG = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class ItemRow:
    """An item as pages see it. `stage` is the key of its stage, `state_name` its state in words.

    `is_corrected` says that a correction of it stands, `is_published` that workers may have seen it, so that it stays.
    """

    pk: int
    key: str
    stage: str
    stage_title: str
    state: str
    state_name: str
    is_corrected: bool
    is_published: bool
    document: Json
    data: Json


@dataclass(frozen=True)
class ChangeRow:
    """What a correction made of an item's data; `pk` is its number among the item's `changes` in the template."""

    pk: int
    before: Json
    after: Json


@dataclass(frozen=True)
class ItemRows:
    """All that the page of one item shows.

    `fellows` are the items of other stages about the same text by the same protocol, at most ten; `changes` the
    newest corrections, newest first. `fields` and `refusal` are there when the posted form was refused.
    """

    item: ItemRow
    fellows: Sequence[ItemRow] = ()
    changes: Sequence[ChangeRow] = ()
    fields: Mapping[str, str] | None = None
    refusal: AnswerRefusedError | None = None


@dataclass(frozen=True)
class Correct:
    """What a form asks for: correct the item, with `wanted` for the protocol's own `correct`."""

    wanted: Any


@dataclass(frozen=True)
class ItemPage:
    """A page of one item. `context` gives what `template` shows.

    `form` says what the posted fields ask for; without it, nothing can be posted. `fellows_named` names the items that
    may change together with this one, in words that follow "in".
    """

    template: str
    context: Callable[[ItemRows], Json]
    form: Callable[[ItemRow, Mapping[str, str]], Correct] | None = None
    fellows_named: str = "other stages"


@dataclass(frozen=True)
class Page:
    """A page that lists the items of a stage, 50 at a time. `slug` is its name in addresses, `title` its tab.

    `context` gives what `template` shows of the listed items; `item` is the page to which it leads for each of them.
    """

    slug: str
    title: str
    template: str
    context: Callable[[Sequence[ItemRow]], Json]
    item: ItemPage | None = None

    @property
    def corrects(self) -> bool:
        return self.item is not None and self.item.form is not None

    @property
    def templates(self) -> list[str]:
        return [self.template, *([self.item.template] if self.item else [])]


def declared_faults(pages: Sequence[Page], folder: Path) -> list[str]:
    """What is wrong with the pages of a protocol's folder, in words that follow its name."""
    slugs = [page.slug for page in pages]
    templates = [template for page in pages for template in page.templates]
    return [
        *(
            f"has a page {slug!r}: name it in lower case, as {SLUG.pattern}."
            for slug in slugs
            if not SLUG.fullmatch(slug)
        ),
        *(f"has more than one page {slug!r}." for slug in dict.fromkeys(slugs) if slugs.count(slug) > 1),
        *(
            f"names {template!r}, which is no template of this protocol."
            for template in templates
            if not (template.startswith(f"{folder.name}/") and (folder / "templates" / template).is_file())
        ),
    ]
