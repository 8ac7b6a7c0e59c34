"""A worker's account under lock, for whoever adds something to it that the account's end takes away."""

from marketplace.models import Worker
from marketplace.rules.errors import AccountRefused
from marketplace.rules.sentences import Sentence


def lock(pk: int) -> Worker:
    """Needs a transaction. Raises AccountRefused once the account is deleted: it must take in nothing more."""
    found = Worker.objects.select_for_update(no_key=True).filter(pk=pk, erased_at=None).first()
    if found is None:
        raise AccountRefused(Sentence("This account was deleted."))
    return found
