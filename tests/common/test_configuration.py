from __future__ import annotations

import re
import secrets
from pathlib import Path

import pytest

from common.configuration import PUBLISHED, debug_fault, secret_fault

ROOT = Path(__file__).resolve().parents[2]
SERVER, LAPTOP = "https://crowd.example.org", "http://127.0.0.1:8001"


@pytest.mark.parametrize("secret", ["", "x", "x" * 50, "abc" * 20, "1234567890123456789012345678901"])
@pytest.mark.parametrize("address", [SERVER, LAPTOP])
def test_a_key_that_can_be_guessed_is_refused_everywhere(secret: str, address: str) -> None:
    fault = secret_fault("KEY", secret, address)
    assert fault.startswith("KEY ")
    assert not secret or secret not in fault.replace("KEY", "") or len(secret) == 1


@pytest.mark.parametrize("secret", sorted(PUBLISHED))
def test_a_published_key_is_refused_on_a_server_alone(secret: str) -> None:
    assert "published" in secret_fault("KEY", secret, SERVER)
    assert secret_fault("KEY", secret, LAPTOP) == ""


def test_every_key_that_stands_in_the_settings_is_known_as_published() -> None:
    files = [*ROOT.glob("tests/settings/*.py"), ROOT / "marketplace" / "settings.py", ROOT / "annotate" / "settings.py"]
    written = [re.findall(r"""SECRET_KEY"?[,)]?\s*=?\s*"([^"\n]{20,})\"""", file.read_text()) for file in files]
    keys = {key for found in written for key in found if " " not in key}
    assert len(keys) >= 2
    assert keys <= PUBLISHED


def test_a_random_key_is_taken() -> None:
    assert secret_fault("KEY", secrets.token_urlsafe(48), SERVER) == ""


def test_debugging_is_for_one_machine() -> None:
    assert "DEBUG is True" in debug_fault("DEBUG", True, SERVER)
    assert debug_fault("DEBUG", True, LAPTOP) == debug_fault("DEBUG", False, SERVER) == ""
