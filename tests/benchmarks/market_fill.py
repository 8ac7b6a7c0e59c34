"""Fills a marketplace on PostgreSQL with many rows in seconds: each is a copy of one that the verbs made.

Only what must differ is given for a copy; so a new column needs no change here.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import connection

from marketplace.models import Assignment, Hit, HitType, Requester, Worker
from marketplace.rules.qualifications import NUMBER_APPROVED
from marketplace.verbs import accounts, assignments, clock, hits, summaries

ANSWERS_PER_HIT = 5
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>https://tasks.example.org/task?item=1</ExternalURL>'
    "<FrameHeight>0</FrameHeight></ExternalQuestion>"
)


def fill(open_hits: int, groups: int, workers: int, answers: int) -> None:
    """Bring the marketplace to so many open HITs, groups and workers, and to `answers` that wait for review."""
    requester = Requester.objects.filter(name="Bench").first() or _begin()
    for number in range(HitType.objects.count(), groups):
        _type(requester, number)
    hit = Hit.objects.earliest("pk")
    done = Assignment.objects.earliest("pk")
    of_type = f"{_array(HitType)}[1 + n % {groups}]"
    _copy_workers(workers)
    fresh = {"state": "'Assignable'", "submitted": "0", "pending": "0", "completed": "0"}
    missing = open_hits - Hit.objects.filter(state="Assignable").count()
    _copy(Hit, hit.pk, missing, {"hit_id": _id("o"), "hit_type_id": of_type, **fresh})
    # After the open ones, so that whoever has answered here looks for work twice: behind the last answer, and before.
    closed = answers // ANSWERS_PER_HIT
    reviewable = {"state": "'Reviewable'", "max_assignments": "5", "submitted": "5", "pending": "0", "completed": "0"}
    _copy(Hit, hit.pk, closed, {"hit_id": _id("c"), "hit_type_id": of_type, **reviewable})
    _answer(done.pk, workers)
    counted = "SELECT worker_id, count(*) AS made FROM marketplace_assignment GROUP BY worker_id"
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE marketplace_worker w SET submitted_count = made FROM ({counted}) AS c WHERE c.worker_id = w.id"
        )
        cursor.execute("UPDATE marketplace_requester SET funds = 9000000, held = 1000000")
        cursor.execute("VACUUM ANALYZE")
    summaries.refresh()


def _begin() -> Requester:
    now = clock.now()
    requester = accounts.create_requester("Bench", Decimal("1000.00"), now, "bench", "secret-of-bench").requester
    kind = _type(requester, 0)
    worker = accounts.create_worker("w0", "worker")
    for _ in range(2):
        hits.create(requester, kind, question=QUESTION, max_assignments=1, lifetime_seconds=31_000_000, now=now)
    held = assignments.accept(kind, worker, now)
    assignments.submit(held.assignment_id, {"answer": ["yes"]}, now)
    return requester


def _type(requester: Requester, number: int) -> HitType:
    experienced = {
        "QualificationTypeId": NUMBER_APPROVED,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [0],
        "ActionsGuarded": "Accept",
    }
    return hits.find_or_create_type(
        requester,
        title=f"Read a passage and answer, part {number}",
        description="Read a passage and click the entity that fits",
        keywords="reading, entity",
        reward=Decimal(f"0.{10 + number % 80}"),
        assignment_duration_seconds=3600,
        auto_approval_delay_seconds=2_592_000,
        requirements=[experienced] if number % 3 == 0 else [],
    )


def _id(letter: str) -> str:
    """SQL for an id that nothing else has."""
    return f"'3' || left(upper(md5('{letter}' || n || random())), 29)"


def _array(model: Any) -> str:
    """SQL for the list of all keys of a table."""
    return f"(ARRAY[{','.join(map(str, model.objects.order_by('pk').values_list('pk', flat=True)))}])"


def _copy_workers(count: int) -> None:
    first = Worker.objects.count()
    new = f"generate_series({first}, {count - 1}) AS n"
    user = User.objects.get(username="w0")
    _insert(User, user.pk, new, {"username": "'w' || n"})
    worker = Worker.objects.get(user=user)
    ids = "(SELECT id FROM auth_user WHERE username = 'w' || n)"
    _insert(Worker, worker.pk, new, {"user_id": ids, "worker_id": "'A' || left(upper(md5('w' || n)), 13)"})


def _answer(template: int, workers: int) -> None:
    """Five answers for each reviewable HIT that has none, by five different workers."""
    empty = (
        "(SELECT h.id, row_number() OVER (ORDER BY h.id) AS place FROM marketplace_hit h WHERE h.state = 'Reviewable' "
        "AND h.max_assignments = 5 AND NOT EXISTS (SELECT 1 FROM marketplace_assignment a WHERE a.hit_id = h.id)) AS e"
    )
    columns = {
        "assignment_id": "'3' || left(upper(md5('a' || e.id || '-' || n || random())), 29)",
        "hit_id": "e.id",
        "worker_id": f"{_array(Worker)}[1 + (e.place * {ANSWERS_PER_HIT} + n) % {workers}]",
    }
    _insert(Assignment, template, f"{empty} CROSS JOIN generate_series(1, {ANSWERS_PER_HIT}) AS n", columns)


def _copy(model: Any, template: int, count: int, columns: dict[str, str]) -> None:
    if count > 0:
        _insert(model, template, f"generate_series(1, {count}) AS n", columns)


def _insert(model: Any, template: int, source: str, columns: dict[str, str]) -> None:
    names = [field.column for field in model._meta.concrete_fields if not field.primary_key]
    quoted = ", ".join(f'"{name}"' for name in names)
    values = ", ".join(columns.get(name, f't."{name}"') for name in names)
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({quoted}) SELECT {values} FROM {table} t, {source} WHERE t.id = {template}"
        )
