import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules import panels
from marketplace.rules.errors import ParameterValidationError

GOOD = "https://panel.example.org/done?cc=C0DE&person={outside_id}&s={SESSION_ID}"


@pytest.mark.parametrize("address", [GOOD, "http://127.0.0.1:9/{outside_id}"])
def test_a_return_address_is_taken(address: str) -> None:
    assert panels.check_return_address("It", address) == address


@pytest.mark.parametrize(
    "address",
    [
        "http://panel.example.org/",
        "javascript:alert(1)",
        "//panel.example.org/",
        "https://{outside_id}/",
        "https://a.example;script-src *",
        "https://panel.example.org/{outside_id",
        "https://panel.example.org/a b",
        "https://[",
        "",
    ],
)
def test_a_wrong_return_address_is_refused(address: str) -> None:
    with pytest.raises(ParameterValidationError):
        panels.check_return_address("It", address)


@given(st.text(), st.text())
def test_what_fills_an_address_cannot_leave_its_place(outside_id: str, session: str) -> None:
    outside_id, session = (text.encode("utf-8", "ignore").decode() for text in (outside_id, session))
    filled = panels.fill(GOOD, {"outside_id": outside_id, "SESSION_ID": session})
    assert filled.startswith("https://panel.example.org/done?cc=C0DE&person=")
    assert (filled.count("&"), filled.count("#"), filled.count("?")) == (2, 0, 1)


def test_parameters_of_a_link_are_bounded() -> None:
    query = {"PID": "1", "sig": "x", "STUDY_ID": "s" * 999, "<b>": "x"} | {f"p{n}": "" for n in range(99)}
    kept = panels.kept_parameters(query, "PID")
    assert len(kept) == 20 and len(kept["STUDY_ID"]) == 200
    assert not kept.keys() & {"PID", "sig", "<b>"}


def test_a_signature_is_for_one_id_under_one_secret() -> None:
    signature = panels.sign("secret", "P1")
    assert panels.is_signed("secret", "P1", signature.upper())
    assert not panels.is_signed("secret", "P2", signature)
    assert not panels.is_signed("other", "P1", signature)
    assert not panels.is_signed("secret", "P1", "ü")


def test_a_signature_over_a_visit_is_for_no_other_visit() -> None:
    signature = panels.sign("secret", "P1", "s1")
    assert panels.is_signed("secret", "P1", signature, "s1")
    assert not panels.is_signed("secret", "P1", signature)
    assert not panels.is_signed("secret", "P1", signature, "s2")
