"""Who is signed in, read with the worker that the account is: nearly every page needs both."""

from typing import Any

from django.contrib.auth import get_user_model

from common.sign_in import NameBackend


class Backend(NameBackend):
    def get_user(self, user_id: int) -> Any:
        """The active account, with its worker where it has one; None where there is none."""
        user = get_user_model().objects.select_related("worker").filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None
