"""The tests' database is used as in earnest: every thread has a connection of its own."""

import threading

import pytest
from django.db import connection, transaction

from hits.models import Project
from tests.hits import factories as make


@pytest.mark.django_db(transaction=True)
def test_what_another_thread_reads_is_not_inside_the_transaction_of_this_one():
    seen = []

    def count() -> None:
        seen.append(Project.objects.count())
        connection.close()

    with transaction.atomic():
        make.stage()
        other = threading.Thread(target=count)
        other.start()
        other.join()
    assert seen == [0]
    assert Project.objects.count() == 1
