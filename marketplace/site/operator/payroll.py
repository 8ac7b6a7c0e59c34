"""A payout run as a file for the payroll."""

from collections.abc import Iterator
from decimal import Decimal

from django.http import StreamingHttpResponse

from marketplace.models import Payout, PayoutLine
from marketplace.site import spreadsheet

COLUMNS = ("worker id", "name", "e-mail", "outside id", "amount", "currency")
CURRENCY = "USD"
_LINES_AT_ONCE = 500


def as_csv(payout: Payout) -> StreamingHttpResponse:
    """One line for each worker, sent while it is read: the file may be long."""
    name = f"payout-{payout.pk}{'-draft' if payout.state == Payout.State.DRAFT else ''}.csv"
    return StreamingHttpResponse(
        spreadsheet.lines(COLUMNS, _rows(payout)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _rows(payout: Payout) -> Iterator[tuple[str | Decimal, ...]]:
    lines = payout.lines.select_related("worker__user", "worker__panel_entry").order_by("pk")
    for line in lines.iterator(chunk_size=_LINES_AT_ONCE):
        yield (*_who(line), line.amount, CURRENCY)


def _who(line: PayoutLine) -> tuple[str, ...]:
    worker = line.worker
    # Most workers did not come through a panel.
    entry = getattr(worker, "panel_entry", None)
    return (worker.worker_id, worker.user.username, worker.user.email, entry.outside_id if entry else "")
