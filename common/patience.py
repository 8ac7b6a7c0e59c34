"""How long to wait after many tries. The first are free, then each pause is twice as long, up to a limit."""

from dataclasses import dataclass
from datetime import timedelta

# A count that nothing was added to for so long starts again.
FORGOTTEN_AFTER = timedelta(hours=24)


@dataclass(frozen=True)
class Patience:
    """`free` tries without a pause, then `first` seconds and twice as many each time, at most `longest`."""

    free: int
    first: int
    longest: int

    def pause(self, count: int) -> timedelta:
        """How long nothing more is tried after the `count`-th try."""
        if count < self.free:
            return timedelta()
        doublings = min(count - self.free, 20)
        return timedelta(seconds=min(self.first * 2**doublings, self.longest))


# One name from one address: whoever guesses soon waits a quarter of an hour for each guess.
SIGN_IN = Patience(free=5, first=5, longest=900)
# Many names from one address; a whole office may sit behind one.
SIGN_IN_FROM_ADDRESS = Patience(free=50, first=5, longest=900)
# One name from many addresses. Short, because it also makes the owner wait on a new device.
SIGN_IN_AS_NAME = Patience(free=20, first=5, longest=60)
SIGN_UP = Patience(free=10, first=60, longest=3600)
# Forms that are sent back: each tells of a name or an address whether somebody has it.
SIGN_UP_SLIPS = Patience(free=20, first=5, longest=900)
# Letters to one address, and letters asked for from one.
LETTER = Patience(free=3, first=60, longest=3600)
LETTERS_FROM_ADDRESS = Patience(free=10, first=30, longest=3600)
# A password asked for again inside a session, as before a change of address.
PASSWORD = Patience(free=5, first=5, longest=900)
# People of one panel often share an address.
PANEL_FROM_ADDRESS = Patience(free=60, first=5, longest=300)
