"""Queries whose SQL is written once find what the same query finds when it is written anew."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.sql.compiler import SQLCompiler

from common.prepared import Prepared
from marketplace.models import Hit, HitType, Worker
from ops.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.on_postgresql


def _open(kind: str, after: int, now: datetime) -> QuerySet[Hit]:
    rows = Hit.objects.select_related("hit_type__requester").filter(hit_type__hit_type_id=kind, pk__gt=after)
    return rows.assignable(now).exclude(review_status="x").order_by("pk")


@pytest.fixture
def hits(make_hit_type: Callable[..., HitType], make_hit: Callable[..., Hit]) -> list[Hit]:
    kinds = [make_hit_type(title=title) for title in ("Click", "Choose")]
    return [make_hit(kind) for kind in kinds for _ in range(3)]


def test_each_run_finds_what_its_own_values_ask_for(hits: list[Hit], now: datetime) -> None:
    prepared = Prepared(_open)
    for hit in hits:
        for after in (0, hit.pk, 2**31):
            for moment in (now, now + timedelta(days=3650)):
                values = {"kind": hit.hit_type.hit_type_id, "after": after, "now": moment}
                assert prepared(**values) == list(_open(**values))


def test_related_rows_come_in_the_same_query(hits: list[Hit], now: datetime, django_assert_num_queries: Any) -> None:
    prepared, kind = Prepared(_open), hits[0].hit_type.hit_type_id
    with django_assert_num_queries(1):
        found = prepared(kind=kind, after=0, now=now)
        assert {hit.hit_type.requester.pk for hit in found} == {hits[0].requester_id}


def test_its_sql_is_written_once(hits: list[Hit], now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = Prepared(lambda pk: Hit.objects.filter(pk=pk).values_list("hit_id", flat=True))
    assert prepared(pk=hits[0].pk) == [hits[0].hit_id]
    monkeypatch.setattr(SQLCompiler, "as_sql", None)
    assert prepared(pk=hits[1].pk) == [hits[1].hit_id]


@pytest.mark.django_db(transaction=True)
def test_each_connection_asks_with_one_statement(worker: Worker, django_assert_num_queries: Any) -> None:
    prepared = Prepared(lambda pk: Worker.objects.filter(pk=pk, erased_at=None))
    for _ in range(2):
        for _ in range(3):
            with django_assert_num_queries(1):
                assert prepared(pk=worker.pk) == [worker]
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT generic_plans + custom_plans FROM pg_prepared_statements ORDER BY prepare_time DESC"
                )
                assert cursor.fetchone() == (3,)
        # The next connection has no statement yet.
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_what_was_prepared_in_a_transaction_that_is_rolled_back_serves_afterwards(worker: Worker) -> None:
    prepared = Prepared(lambda pk: Worker.objects.filter(pk=pk))
    with suppress(Worker.DoesNotExist), transaction.atomic():
        assert prepared(pk=worker.pk) == [worker]
        raise Worker.DoesNotExist
    assert prepared(pk=worker.pk) == [worker]


def test_two_threads_may_write_the_same_query_at_once(hits: list[Hit], monkeypatch: pytest.MonkeyPatch) -> None:
    """The second begins to write while the first one does, and has not ended when the first one asks."""
    prepared = Prepared(lambda pk: Hit.objects.filter(pk=pk))
    second_writes, first_has_rows = Event(), Event()
    write = SQLCompiler.as_sql

    def as_sql(compiler: SQLCompiler, *args: Any, **kwargs: Any) -> Any:
        if second.ident is None:
            second.start()
            assert second_writes.wait(PATIENCE_SECONDS)
        else:
            second_writes.set()
            first_has_rows.wait(PATIENCE_SECONDS)
            raise ValueError("The second one gives up, so that it needs no connection.")
        return write(compiler, *args, **kwargs)

    def ask() -> None:
        with suppress(ValueError):
            prepared(pk=hits[1].pk)

    second = Thread(target=ask)
    monkeypatch.setattr(SQLCompiler, "as_sql", as_sql)
    assert prepared(pk=hits[0].pk) == [hits[0]]
    first_has_rows.set()
    second.join(PATIENCE_SECONDS)
    assert not second.is_alive()


@pytest.mark.django_db(transaction=True)
def test_another_thread_asks_by_its_own_connection(worker: Worker) -> None:
    prepared = Prepared(lambda pk: Worker.objects.filter(pk=pk))
    assert prepared(pk=worker.pk) == [worker]
    found: list[Worker] = []

    def ask() -> None:
        found.extend(prepared(pk=worker.pk))
        connection.close()

    thread = Thread(target=ask)
    thread.start()
    thread.join()
    assert found == [worker]


def test_a_number_that_no_column_holds_finds_nothing(hits: list[Hit]) -> None:
    prepared = Prepared(lambda pk: Hit.objects.filter(pk=pk))
    assert [prepared(pk=pk) for pk in (2**63, -(2**80), hits[0].pk)] == [[], [], [hits[0]]]


def test_a_value_that_the_query_does_not_use_is_a_mistake(hits: list[Hit], now: datetime) -> None:
    with pytest.raises(ValueError, match="no place for worker"):
        Prepared(lambda pk, worker: Hit.objects.filter(pk=pk))(pk=1, worker=2)
