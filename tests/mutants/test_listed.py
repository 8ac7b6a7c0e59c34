"""The list of faults fits the code that it is about."""

from __future__ import annotations

import pytest

from ops.surroundings import ROOT
from tests.mutants.__main__ import kept_below
from tests.mutants.listed import Mutant, NotApplicableError, listed

EVERY = pytest.mark.parametrize("mutant", listed(), ids=lambda mutant: mutant.name)


def test_there_are_sixty_five_faults() -> None:
    assert len(listed()) == 65


@EVERY
def test_a_snippet_stands_once_in_its_file_and_the_fault_is_python(mutant: Mutant) -> None:
    compile(mutant.mutated(ROOT), mutant.file, "exec")
    assert mutant.before != mutant.after


@EVERY
def test_the_tests_that_a_fault_names_are_there(mutant: Mutant) -> None:
    for path, _, name in (test.partition("::") for test in mutant.tests):
        assert (ROOT / path).exists() and f"def {name}(" in (ROOT / path).read_text()
    assert mutant.tests


def test_a_snippet_that_is_gone_is_an_error(tmp_path) -> None:
    first = listed()[0]
    with pytest.raises(NotApplicableError, match="0 times"):
        first.mutated(tmp_path)
    (tmp_path / first.file).parent.mkdir(parents=True)
    (tmp_path / first.file).write_text(2 * first.before)
    with pytest.raises(NotApplicableError, match="2 times"):
        first.mutated(tmp_path)


def test_a_planted_fault_is_gone_afterwards(tmp_path) -> None:
    first = listed()[0]
    path = tmp_path / first.file
    path.parent.mkdir(parents=True)
    path.write_text(first.before)
    with first.planted(tmp_path):
        assert path.read_text() == first.after
    assert path.read_text() == first.before


def test_writing_the_list_keeps_what_stands_below_it() -> None:
    assert kept_below("# Faults\n\n| a | b |\n\n## Sampled\n\nBy hand.\n") == "\n## Sampled\n\nBy hand.\n"
    assert kept_below("# Faults\n\n| a | b |\n") == ""
