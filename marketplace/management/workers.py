"""What the commands about one worker share."""

from django.core.management.base import CommandError

from marketplace.models import Worker


def find_worker(name: str) -> Worker:
    """By the worker's id, or else by the exact username."""
    workers = Worker.objects.select_related("user")
    worker = workers.filter(worker_id=name).first() or workers.filter(user__username=name).first()
    if worker is None:
        raise CommandError(f"There is no worker with the id or the username {name!r}.")
    return worker
