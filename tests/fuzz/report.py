"""What the fuzzer did and found; shared by its threads."""

from __future__ import annotations

import threading
import time
from collections import Counter


class Report:
    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str, int]] = Counter()
        self.failures: list[str] = []
        self._lock = threading.Lock()
        self._started = time.monotonic()

    def count(self, part: str, name: str, status: int) -> None:
        with self._lock:
            self.counts[part, name, status] += 1

    def fail(self, name: str, text: str) -> None:
        with self._lock:
            self.failures.append(f"{name}: {text}")

    @property
    def requests(self) -> int:
        return sum(self.counts.values())

    @property
    def dropped(self) -> int:
        """Requests that got no answer, counted with status 0."""
        return sum(count for (_, _, status), count in self.counts.items() if not status)

    def lines(self) -> list[str]:
        """Requests by operation or page and by status, then the failures."""
        seconds = time.monotonic() - self._started
        found = [f"{self.requests:,} requests in {seconds:,.0f} s, {self.requests / seconds:,.0f} a second"]
        for part in sorted({part for part, _, _ in self.counts}, reverse=True):
            names = sorted({name for kind, name, _ in self.counts if kind == part})
            total = Counter({s: 0 for _, _, s in self.counts})
            for (kind, _, status), count in self.counts.items():
                total[status] += count if kind == part else 0
            found.append(f"{part}: {_spoken(total)}")
            for name in names:
                by_status = Counter({s: c for (k, n, s), c in self.counts.items() if (k, n) == (part, name)})
                found.append(f"  {name:38} {_spoken(by_status)}")
        found.append(f"{len(self.failures)} failures")
        return found + self.failures[:40]


def _spoken(by_status: Counter[int]) -> str:
    return "  ".join(f"{status}: {count:,}" for status, count in sorted(by_status.items()) if count)
