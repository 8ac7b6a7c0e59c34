"""Paying from the command line: the price, a question, the result."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management.base import CommandError

from hits.models import Bonus, Compensation, Project
from tests.hits import factories as make
from tests.hits.commands.conftest import Run
from tests.hits.flow.payments_stage import answered
from tests.hits.market import Marketplace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def river(db: None) -> Project:
    return make.project(slug="river", budget="100.00")


def test_a_bonus_shows_its_price_asks_and_is_paid(
    run: Run, river: Project, market: Marketplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (answer,) = answered(river, market)
    asked: list[str] = []

    def no(question: str) -> str:
        asked.append(question)
        return "n"

    monkeypatch.setattr("builtins.input", no)
    with pytest.raises(CommandError, match=r"Nothing was paid\."):
        run("bonus", "river", answer.assignment_id, "1.00", "Clear.")
    assert asked == ["Pay 1 bonus for $1.20? [y/N] "] and not Bonus.objects.exists()
    said = run("bonus", "river", answer.assignment_id, "1.00", "Clear.", "--yes")
    assert "1 paid. $1.20 paid, fees included." in said
    assert "bonuses           1       $1.00  $0.20    $0.00" in run("payments", "river")


def test_a_file_is_paid_as_a_whole_or_not_at_all(run: Run, river: Project, market: Marketplace, tmp_path: Path) -> None:
    rows = answered(river, market, 2)
    file = tmp_path / "march.csv"
    file.write_text("assignment_id;amount;reason\n" + "".join(f"{row.assignment_id};0.50;Clear.\n" for row in rows))
    with file.open("a") as more:
        more.write("3NONE;0.50;Clear.\n")
    with pytest.raises(CommandError, match=r"1 fault\. Nothing was paid\."):
        run("bonuses", "river", file, "--yes")
    file.write_text(file.read_text().replace("3NONE;0.50;Clear.\n", ""))
    assert "2 paid. $1.20 paid" in run("bonuses", "river", file, "--yes")
    with pytest.raises(CommandError, match="cannot be read"):
        run("bonuses", "river", tmp_path / "none.csv", "--yes")


def test_a_compensation_is_offered_shown_and_withdrawn(run: Run, river: Project, market: Marketplace) -> None:
    worker = market.sign_up_worker()
    said = run("compensate", "river", worker, "1.25", "The page broke.", "--yes")
    row = Compensation.objects.get()
    assert f"Compensation {row.pk}: Offered to the worker." in said and f"groupId={row.hit_type_id}" in said
    assert f"Compensation {row.pk} to {worker}: $1.25, Offered" in run("payments", "river")
    assert "Withdrawn." in run("withdraw", "river", row.pk)
    with pytest.raises(CommandError, match="no worker id"):
        run("compensate", "river", "somebody", "1.25", "The page broke.", "--yes")
    with pytest.raises(CommandError, match="has no compensation 0"):
        run("withdraw", "river", 0)
