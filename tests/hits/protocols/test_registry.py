"""Protocols are found by scanning folders."""

import re
from pathlib import Path

import pytest

from hits import protocols
from hits.protocols import BrokenProtocolError, UnknownProtocolError


def put(root: Path, name: str, source: str) -> Path:
    folder = root / "protocols" / name
    folder.mkdir(parents=True)
    (folder / "protocol.py").write_text(source)
    return root


SOURCE = "class Kind:\n    name = {name!r}\n    title = 'x'\nprotocol = Kind()\n"


def test_the_protocols_of_the_package_are_there_without_configuration():
    assert "clickable_entity" in protocols.available()
    assert protocols.get("clickable_entity").name == "clickable_entity"


def test_a_new_folder_is_a_new_protocol(tmp_path):
    roots = [protocols.HOME, put(tmp_path, "sorting", SOURCE.format(name="sorting"))]
    assert protocols.available(roots) == sorted([*protocols.available(), "sorting"])
    assert protocols.get("sorting", roots).name == "sorting"


def test_the_same_name_in_two_places_stays_apart(tmp_path):
    one = put(tmp_path / "one", "sorting", SOURCE.format(name="sorting").replace("'x'", "'one'"))
    two = put(tmp_path / "two", "sorting", SOURCE.format(name="sorting").replace("'x'", "'two'"))
    assert protocols.get("sorting", [one]).title == "one"
    assert protocols.get("sorting", [two]).title == "two"
    other = put(tmp_path / "two", "naming", SOURCE.format(name="naming"))
    with pytest.raises(BrokenProtocolError, match="has the same name"):
        protocols.get("sorting", [one, two])
    assert protocols.available([one, two]) == ["naming"]
    assert protocols.get("naming", [one, other]).name == "naming"
    assert [fault for fault in protocols.faults([one, two]) if "has the same name" in str(fault)]


def test_one_folder_given_twice_is_one_folder(tmp_path):
    root = put(tmp_path, "sorting", SOURCE.format(name="sorting"))
    assert protocols.available([root, root]) == ["sorting"]


def test_an_unknown_protocol_is_answered_with_those_that_exist():
    with pytest.raises(UnknownProtocolError, match="Available: .*clickable_entity"):
        protocols.get("juggling")


@pytest.mark.parametrize("source", ["", SOURCE.format(name="another")])
def test_a_folder_that_holds_no_protocol_says_so(tmp_path, source):
    root = put(tmp_path, "sorting", source)
    with pytest.raises(BrokenProtocolError, match="must hold `protocol`"):
        protocols.get("sorting", [root])


def test_a_folder_name_that_is_no_identifier_is_refused(tmp_path):
    root = put(tmp_path, "Sorting-2", SOURCE.format(name="Sorting-2"))
    with pytest.raises(BrokenProtocolError, match="lower case"):
        protocols.get("Sorting-2", [root])
    assert protocols.available([root]) == []


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("protocol = (", "SyntaxError"),
        ("import juggling_tools", "No module named 'juggling_tools'"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(3)", "SystemExit"),
        (None, "protocol.py is missing"),
        ("", "must hold `protocol`"),
    ],
)
def test_a_broken_folder_is_named_and_harms_no_other(tmp_path, source, why):
    root = put(tmp_path, "sorting", source or "")
    if source is None:
        (root / "protocols" / "sorting" / "protocol.py").unlink()
    put(tmp_path, "naming", SOURCE.format(name="naming"))
    roots = [protocols.HOME, root]
    assert protocols.get("naming", roots).name == "naming"
    assert protocols.get("clickable_entity", roots).name == "clickable_entity"
    for _ in range(2):
        with pytest.raises(BrokenProtocolError, match=re.escape(why)):
            protocols.get("sorting", roots)
        [fault] = protocols.faults(roots)
        assert str(root / "protocols" / "sorting") in fault.in_full and why in fault.in_full
        assert str(fault).startswith("protocols/sorting") and why in str(fault) and str(root) not in str(fault)


def test_a_protocol_elsewhere_imports_a_module_beside_it(tmp_path):
    root = put(tmp_path, "sorting", "from .kind import protocol\n")
    (root / "protocols" / "sorting" / "kind.py").write_text(SOURCE.format(name="sorting"))
    (root / "protocols" / "sorting" / "simulated.py").write_text("from .kind import Kind\nanswer = Kind\n")
    protocol = protocols.get("sorting", [root])
    assert protocol.title == "x"
    assert protocols.simulated([root])["sorting"] is type(protocol)


PAGES = """
from hits.protocols.pages import Correct, ItemPage, Page
def nothing(*given): return {}
"""


def with_pages(root, pages, name="sorting"):
    put(root, name, SOURCE.format(name=name))
    (root / "protocols" / name / "pages.py").write_text(PAGES + pages)
    template = root / "protocols" / name / "templates" / name / "list.html"
    template.parent.mkdir(parents=True)
    template.touch()
    return root


def test_a_folder_elsewhere_brings_pages_of_the_dashboard(tmp_path):
    root = with_pages(tmp_path, "PAGES = [Page('all-kinds', 'Kinds', 'sorting/list.html', nothing)]")
    (page,) = protocols.pages("sorting", [root])
    assert (page.slug, page.title, page.corrects) == ("all-kinds", "Kinds", False)
    assert protocols.get("sorting", [root]).name == "sorting"
    assert protocols.pages("clickable_entity") == ()
    with pytest.raises(UnknownProtocolError):
        protocols.pages("juggling")


@pytest.mark.parametrize(
    ("pages", "why"),
    [
        ("", "must hold `PAGES`, a list of `Page`"),
        ("PAGES = ['kinds']", "must hold `PAGES`, a list of `Page`"),
        ("PAGES = [1 / 0]", "ZeroDivisionError"),
        ("PAGES = [Page('All kinds', 'K', 'sorting/list.html', nothing)]", "has a page 'All kinds': name it in lower"),
        ("PAGES = [Page('kinds', 'K', 'sorting/list.html', nothing)] * 2", "has more than one page 'kinds'"),
        ("PAGES = [Page('kinds', 'K', 'sorting/lost.html', nothing)]", "names 'sorting/lost.html', which is no"),
        ("PAGES = [Page('kinds', 'K', 'base.html', nothing)]", "names 'base.html', which is no template of this"),
        (
            "PAGES = [Page('k', 'K', 'sorting/list.html', nothing, ItemPage('sorting/list.html', nothing, Correct))]",
            "has a form, so `protocol` must have `correct`, `follow` and `correction_note`",
        ),
    ],
)
def test_pages_that_cannot_be_used_break_their_folder_alone(tmp_path, pages, why):
    root = with_pages(tmp_path, pages)
    with pytest.raises(BrokenProtocolError, match=re.escape(why)):
        protocols.get("sorting", [root])
    [fault] = protocols.faults([protocols.HOME, root])
    assert "pages.py" in str(fault) and why in str(fault) and str(root) not in str(fault)


def test_what_comes_with_the_package_stays_what_it_is_beside_a_plug_in_of_its_name(tmp_path):
    root = put(tmp_path, "clickable_entity", SOURCE.format(name="clickable_entity"))
    roots = [protocols.HOME, root]
    assert protocols.get("clickable_entity", roots) is protocols.get("clickable_entity")
    [fault] = protocols.faults(roots)
    assert "has the same name" in str(fault) and str(root) in fault.in_full


def test_the_package_has_no_broken_folder():
    assert protocols.faults() == []


def test_a_folder_elsewhere_brings_simulated_answers(tmp_path):
    root = put(tmp_path, "sorting", SOURCE.format(name="sorting"))
    assert "sorting" not in protocols.simulated([root])
    (root / "protocols" / "sorting" / "simulated.py").write_text("def answer(person, screen, key): return 'sorted'\n")
    assert protocols.simulated([protocols.HOME, root])["sorting"](None, None, None) == "sorted"


@pytest.mark.parametrize(("source", "why"), [("x = 1\n", "must hold `answer`"), ("1 / 0\n", "ZeroDivisionError")])
def test_simulated_answers_that_cannot_be_used_are_named(tmp_path, source, why):
    root = put(tmp_path, "sorting", SOURCE.format(name="sorting"))
    (root / "protocols" / "sorting" / "simulated.py").write_text(source)
    with pytest.raises(BrokenProtocolError, match=why):
        protocols.simulated([root])
