"""A worker's account under lock, for whoever adds something to it that the account's end takes away; and by its id."""

from typing import Any

from marketplace.models import Qualification, Worker, WorkerBlock
from marketplace.rules.errors import RequestError
from marketplace.rules.sentences import Sentence


def create(**columns: Any) -> Worker:
    """A new worker, with what requesters kept for the id while nobody had it. Needs a transaction."""
    worker = Worker.objects.create(**columns)
    for model in (WorkerBlock, Qualification):
        model.objects.filter(worker=None, unknown_id=worker.worker_id).update(worker=worker, unknown_id="")
    return worker


def lock(pk: int) -> Worker:
    """Needs a transaction. Raises RequestError once the account is deleted: it must take in nothing more."""
    found = Worker.objects.select_for_update(no_key=True).filter(pk=pk, erased_at=None).first()
    if found is None:
        raise RequestError(Sentence("This account was deleted."))
    return found


def by_id(worker_id: str, lock: bool = False) -> dict[str, Any]:
    """The columns of a block or a qualification that say whose it is: a worker, or an ID that no worker has."""
    rows = Worker.objects.select_for_update(no_key=True) if lock else Worker.objects.all()
    worker = rows.filter(worker_id=worker_id).first()
    return {"worker": worker, "unknown_id": "" if worker else worker_id}
