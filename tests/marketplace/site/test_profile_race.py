"""A profile that is saved while the worker's answers are being judged."""

import pytest

from marketplace.models import Worker
from marketplace.site.forms import ProfileForm

pytestmark = pytest.mark.on_postgresql


@pytest.mark.django_db
def test_saving_a_profile_keeps_what_was_earned_meanwhile(worker: Worker) -> None:
    form = ProfileForm({"country": "CH"}, instance=Worker.objects.get(pk=worker.pk))
    assert form.is_valid()
    Worker.objects.filter(pk=worker.pk).update(earned="0.50", approved_count=1)
    form.save()
    worker.refresh_from_db()
    assert (worker.country, worker.approved_count, str(worker.earned)) == ("CH", 1, "0.50")
