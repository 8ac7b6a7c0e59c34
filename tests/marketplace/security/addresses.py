"""Who may open which address of the site: every address of the URLconf has one line here.

A new address without a line fails tests/marketplace/security/test_matrix.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.urls import URLPattern, URLResolver, get_resolver, reverse

ANYBODY, WORKER, OWNER, OPERATOR = "anybody", "worker", "owner", "operator"


@dataclass(frozen=True)
class Address:
    """`arguments` name rows of the tests' world; `query` and `form` fill a request that finds something."""

    who: str
    arguments: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)

    def path(self, name: str, world: dict[str, str]) -> str:
        return reverse(name, kwargs={key: world[value] for key, value in self.arguments.items()})

    def filled(self, world: dict[str, str]) -> dict[str, str]:
        return {key: world[value] for key, value in self.query.items()}


def _operator(**arguments: str) -> Address:
    return Address(OPERATOR, arguments)


GROUP = {"groupId": "group"}
SIGNED = ("Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature")
POOL = {
    name: f"pool {name}"
    for name in (
        *("QualificationTypeId", "LinkId", "Uses", "Value", "EndsAt"),
        *(f"X-Amz-{name}" for name in SIGNED),
    )
}
ADDRESSES = {
    "site:home": Address(WORKER),
    "site:preview": Address(WORKER, query=GROUP),
    "site:preview_and_accept": Address(WORKER, query=GROUP),
    "site:project": Address(WORKER, {"group_id": "group"}),
    "site:project_accept": Address(WORKER, {"group_id": "group"}),
    "site:report": Address(WORKER, query={"hitId": "hit"}),
    "site:accept": Address(WORKER, query=GROUP),
    "site:work": Address(OWNER, {"pk": "held"}),
    "site:give_back": Address(OWNER, {"pk": "held"}),
    "site:after": Address(OWNER, {"pk": "done"}),
    "site:finished": Address(WORKER, query=GROUP),
    "site:auto_accept": Address(WORKER),
    "site:external_submit": Address(ANYBODY),
    "site:my_work": Address(WORKER),
    "site:give_back_all": Address(WORKER),
    "site:dispute": Address(OWNER, {"pk": "rejected"}),
    "site:earnings": Address(WORKER),
    "site:earnings_file": Address(WORKER),
    "site:qualifications": Address(WORKER),
    "site:profile": Address(WORKER),
    "site:place": Address(WORKER),
    "site:change_email": Address(WORKER),
    "site:resend_confirmation": Address(WORKER),
    "site:change_password": Address(WORKER),
    "site:privacy": Address(WORKER),
    "site:privacy_data": Address(WORKER),
    "site:privacy_delete": Address(WORKER),
    "site:panel_finish": Address(OWNER),
    "site:panel": Address(ANYBODY, {"slug": "panel"}, {"PARTICIPANT_ID": "outside_id"}),
    "site:pool": Address(ANYBODY, query=POOL),
    "site:pool_sign_up": Address(ANYBODY, query=POOL),
    "site:pool_links": Address(ANYBODY),
    "site:join": Address(ANYBODY, {"token": "invitation_token"}),
    "site:confirm_email": Address(ANYBODY, {"token": "confirmation"}),
    "site:cancel_email": Address(ANYBODY, {"token": "cancellation"}),
    "site:forgot": Address(ANYBODY),
    "site:reset_password": Address(ANYBODY, {"uidb64": "reset_user", "token": "reset_token"}),
    "site:signup": Address(ANYBODY),
    "site:login": Address(ANYBODY),
    "site:logout": Address(ANYBODY),
    "site:language": Address(ANYBODY),
    "site:words": Address(ANYBODY, {"language": "language"}),
    "site:qualifications_offered": Address(WORKER),
    "site:qualifications_asked": Address(WORKER),
    "site:qualification": Address(WORKER, {"type_id": "offered"}),
    "site:ask_qualification": Address(WORKER, {"type_id": "offered"}),
    "site:qualification_test": Address(OWNER, {"request_id": "request"}),
    "site:messages": Address(WORKER),
    "site:message": Address(OWNER, {"pk": "message"}),
    "site:message_read": Address(OWNER, {"pk": "message"}),
    "site:messages_read_all": Address(WORKER),
    "site:messages_mail": Address(WORKER),
    "site:adult": Address(WORKER),
    "operator:overview": _operator(),
    "operator:live": _operator(),
    "operator:log": _operator(),
    "operator:account": _operator(),
    "operator:end_session": _operator(pk="operator_session"),
    "operator:end_other_sessions": _operator(),
    "operator:password": _operator(),
    "operator:code": _operator(),
    "operator:second_factor": _operator(),
    "operator:second_factor_begin": _operator(),
    "operator:second_factor_codes": _operator(),
    "operator:second_factor_remove": _operator(),
    "operator:requesters": _operator(),
    "operator:requester_new": _operator(),
    "operator:requester": _operator(customer_id="customer"),
    "operator:deposit": _operator(customer_id="customer"),
    "operator:ledger": _operator(customer_id="customer"),
    "operator:key_new": _operator(customer_id="customer"),
    "operator:key_revoke": _operator(pk="key"),
    "operator:workers": _operator(),
    "operator:worker": _operator(worker_id="worker"),
    "operator:worker_suspend": _operator(worker_id="worker"),
    "operator:worker_standing": _operator(worker_id="worker"),
    "operator:owed": _operator(),
    "operator:payouts": _operator(),
    "operator:payout_draft": _operator(),
    "operator:payout": _operator(pk="payout"),
    "operator:payout_pay": _operator(pk="payout"),
    "operator:payout_drop": _operator(pk="payout"),
    "operator:payout_undo": _operator(pk="paid"),
    "operator:payout_undo_line": _operator(pk="paid", line_pk="line"),
    "operator:payout_csv": _operator(pk="payout"),
    "operator:concerns": _operator(),
    "operator:concern": _operator(pk="concern"),
    "operator:layout_new": _operator(customer_id="customer"),
    "operator:layout": _operator(pk="layout_pk"),
    "operator:worker_reset": _operator(worker_id="worker"),
    "operator:worker_export": _operator(worker_id="worker"),
    "operator:worker_erase": _operator(worker_id="worker"),
    "operator:invitations": _operator(),
    "operator:invitation_new": _operator(),
    "operator:invitation": _operator(pk="invitation"),
    "operator:invitation_revoke": _operator(pk="invitation"),
    "operator:panels": _operator(),
    "operator:panel_new": _operator(),
    "operator:panel": _operator(slug="panel"),
    "operator:panel_close": _operator(slug="panel"),
    "operator:panel_release": _operator(slug="panel"),
    "operator:webhook": _operator(customer_id="customer"),
    "operator:webhook_stop": _operator(customer_id="customer"),
    "operator:notifications": _operator(),
    "operator:notification_again": _operator(pk="notification"),
}


def names_of_all() -> Iterator[str]:
    """The names of the URLconf's patterns, with their namespaces; raises when one has no name."""

    def walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[str]:
        for pattern in patterns:
            if isinstance(pattern, URLResolver):
                inner = f"{prefix}{pattern.namespace}:" if pattern.namespace else prefix
                yield from walk(pattern.url_patterns, inner)
            elif pattern.name is None:
                raise AssertionError(f"{pattern.pattern} has no name")
            else:
                yield prefix + pattern.name

    yield from walk(get_resolver().url_patterns, "")
