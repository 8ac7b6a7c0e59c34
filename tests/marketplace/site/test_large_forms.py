from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("address", "said"), [("/accounts/login/", "3 MB"), ("/mturk/externalSubmit", "too big")])
def test_a_form_with_a_large_file_is_refused_before_it_is_read(address: str, said: str) -> None:
    # All but a byte of it is missing: whoever reads it fails.
    client = Client(enforce_csrf_checks=True)
    answer = client.post(address, b"x", "multipart/form-data; boundary=x", CONTENT_LENGTH=str(50 * 1024**2))
    assert answer.status_code == 413 and said in answer.content.decode()
