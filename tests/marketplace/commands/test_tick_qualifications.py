from datetime import datetime, timedelta
from io import StringIO
from typing import Any

from django.core.management import call_command

from marketplace.models import QualificationRequest, QualificationType, Requester, Worker
from marketplace.verbs import hits, qualification_requests, qualifications
from marketplace.verbs.qualifications import NewTest
from tests.marketplace.rules.test_answer_key import form


def test_the_clock_ends_tests_and_removes_what_no_hit_requires(
    requester: Requester, worker: Worker, make_hit_type: Any, make_hit: Any, now: datetime
) -> None:
    before = now - timedelta(minutes=5)
    values: dict[str, Any] = {"description": "d", "status": "Active", "now": before, "test": NewTest(form(q="AB"), 60)}
    kept, gone = (qualifications.create_type(requester, name=name, **values) for name in ("Kept", "Gone"))
    qualification_requests.ask(worker, kept.qualification_type_id, before)
    need = {"QualificationTypeId": gone.qualification_type_id, "Comparator": "Exists", "ActionsGuarded": "Accept"}
    hit = make_hit(make_hit_type(requirements=[need]))
    qualifications.delete_type(requester, gone.qualification_type_id, now)
    call_command("tick", "--once", stdout=StringIO())
    assert QualificationRequest.objects.get().status == "TimedOut"
    assert QualificationType.objects.filter(pk=gone.pk).exists()
    hits.set_expiration(requester, hit.hit_id, now, now)
    hits.dispose(requester, hit.hit_id, now)
    call_command("tick", "--once", stdout=StringIO())
    assert not QualificationType.objects.filter(pk=gone.pk).exists()
