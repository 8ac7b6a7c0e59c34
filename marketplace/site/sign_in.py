"""Who is signed in, read with the worker that the account is: nearly every page needs both."""

from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet

from common.prepared import Prepared
from common.sign_in import NameBackend
from marketplace.models import Worker


class Backend(NameBackend):
    def get_user(self, user_id: int) -> Any:
        """The active account, with its worker where it has one; None where there is none."""
        found = _with_worker(pk=user_id)
        return found[0] if found and self.user_can_authenticate(found[0]) else None


@Prepared
def _with_worker(pk: int) -> QuerySet[Any]:
    return get_user_model().objects.select_related("worker").filter(pk=pk)


def worker_of(user: Any) -> Worker | None:
    """The worker that an account is; None of an operator's and of nobody's. No query for who is signed in."""
    found: Worker | None = getattr(user, "worker", None)
    return found
