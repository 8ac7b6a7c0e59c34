"""How many calls a requester may make: a token bucket."""

import re
from dataclasses import dataclass
from math import ceil

_SPOKEN = re.compile(r"([1-9]\d{0,5}),(\d{1,5}(?:\.\d{1,3})?)/s", re.ASCII)


@dataclass(frozen=True)
class Rate:
    """A bucket of `capacity` calls that fills at `per_second`.

    It is kept as the one moment at which it will be full again: a call moves that moment on by the
    time that one token takes to come back, and is refused when the bucket would be emptier than empty.
    """

    capacity: int
    per_second: float

    @property
    def token_ms(self) -> int:
        """Milliseconds in which one token comes back."""
        return ceil(1000 / self.per_second)

    def latest_full_ms(self, now_ms: int) -> int:
        """The latest moment at which a bucket may be full again so that there is a token left now."""
        return now_ms + (self.capacity - 1) * self.token_ms


def parse(text: str) -> Rate | None:
    """Read `20,5/s`: at most 20 at once, 5 each second in the long run; an empty text means no limit.

    Raises ValueError.
    """
    if not text:
        return None
    match = _SPOKEN.fullmatch(text)
    if match is None or float(match[2]) <= 0:
        raise ValueError(f"{text!r} is no rate: write capacity and calls a second, such as 20,5/s")
    return Rate(int(match[1]), float(match[2]))
