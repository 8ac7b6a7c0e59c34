"""What a page and its frames bring over the wire: compressed, with headers, as if nothing were kept from before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Page, Request


@dataclass
class Load:
    """Address and bytes of each reply."""

    parts: list[tuple[str, int]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(size for _, size in self.parts)

    @property
    def hosts(self) -> set[str]:
        return {urlsplit(address).netloc for address, _ in self.parts}

    def lines(self) -> str:
        return "\n".join([*(f"{size:7} {address}" for address, size in self.parts), f"{self.total:7} together"])


@contextmanager
def weighed(page: Page) -> Iterator[Load]:
    """Counts what the page and its frames load meanwhile; the result is there once the block is left."""
    finished: list[Request] = []
    load = Load()

    def note(request: Request) -> None:
        finished.append(request)

    page.on("requestfinished", note)
    page.route("**/*", lambda route: route.continue_())  # a page whose requests are looked at keeps no cache
    yield load
    page.unroute("**/*")
    page.remove_listener("requestfinished", note)
    for request in finished:
        if request.url.startswith("http"):
            sizes = request.sizes()
            load.parts.append((request.url, sizes["responseBodySize"] + sizes["responseHeadersSize"]))
