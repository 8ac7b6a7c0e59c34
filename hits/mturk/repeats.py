"""May a call be sent again when its answer was lost? The whole table: every operation that the gateway uses is in it.

After a lost answer the marketplace may have carried the call out. The gateway sends it again only where that can
neither pay nor publish twice; for the others the caller has to look first.
"""

from __future__ import annotations

from enum import Enum


class Repeat(Enum):
    """Why sending a call again is harmless."""

    READ = "it changes nothing"
    TOKEN = "its token makes the marketplace refuse the second one"
    SAME = "it sets what the first one set"
    ONCE = "the marketplace refuses the second one, for the thing is in another state then"
    NEVER = "it would be done twice"


REPEATS: dict[str, Repeat] = {
    "get_account_balance": Repeat.READ,
    "get_assignment": Repeat.READ,
    "get_hit": Repeat.READ,
    "list_assignments_for_hit": Repeat.READ,
    "list_bonus_payments": Repeat.READ,
    "list_hits": Repeat.READ,
    "list_qualification_types": Repeat.READ,
    "list_reviewable_hits": Repeat.READ,
    "list_workers_with_qualification_type": Repeat.READ,
    # Without UniqueRequestToken these three would be NEVER. Tokens live for 24 hours, a call for a minute.
    "create_additional_assignments_for_hit": Repeat.TOKEN,
    "create_hit_with_hit_type": Repeat.TOKEN,
    "send_bonus": Repeat.TOKEN,
    # The same values are the same type.
    "create_hit_type": Repeat.SAME,
    # A refused second one ("idempotency token") is a success.
    "update_expiration_for_hit": Repeat.SAME,
    "update_notification_settings": Repeat.SAME,
    "update_qualification_type": Repeat.SAME,
    # Another grant overwrites the value with itself. At worst the worker reads two notes.
    "associate_qualification_with_worker": Repeat.SAME,
    # From Submitted, or with the override from Rejected, to Approved: never twice, and paid once.
    "approve_assignment": Repeat.ONCE,
    "reject_assignment": Repeat.ONCE,
    "delete_hit": Repeat.ONCE,
    "disassociate_qualification_from_worker": Repeat.ONCE,
    # It takes no token: the worker would read it twice.
    "notify_workers": Repeat.NEVER,
    # Names are unique in an account: the second one says so, and the type is looked up by its name.
    "create_qualification_type": Repeat.ONCE,
}
