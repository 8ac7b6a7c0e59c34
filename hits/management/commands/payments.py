from __future__ import annotations

from typing import Any

from hits.domain.payment_totals import Totals, payment_totals
from hits.flow.payments import bonuses, compensating
from hits.management.commands._base import ProjectCommand, dollars


class Command(ProjectCommand):
    changing = ()
    help = "Carry on with what is due, then show the bonuses and compensations of a project: sums, and what is open."

    def run(self, options: dict[str, Any]) -> None:
        project = self.project(options)
        bonuses.send(project)
        compensating.finish(project)
        self.table(
            ["", "rows", "to workers", "fees", "waiting"],
            [
                _sums("bonuses", payment_totals(project.bonuses.all())),
                _sums("compensations", payment_totals(project.compensations.all())),
            ],
        )
        for bonus in project.bonuses.filter(state__in=bonuses.WAITING).select_related("worker").order_by("id")[:50]:
            what = f"Bonus {bonus.pk} to {bonus.worker.worker_id}"
            self.say(f"{what}: {dollars(bonus.amount)}, {bonus.get_state_display()}. {bonus.error}".strip())
        for row in project.compensations.order_by("id").filter(state__in=["planned", "offered"])[:50]:
            what = f"Compensation {row.pk} to {row.worker_id}"
            self.say(f"{what}: {dollars(row.amount)}, {row.get_state_display()}. {row.error}".strip())


def _sums(name: str, totals: Totals) -> list[str]:
    return [name, f"{totals.count:,}", dollars(totals.paid), dollars(totals.fees), dollars(totals.waiting)]
