"""Files of workers' ids."""

from __future__ import annotations

import pytest

from hits.formats.inputs.worker_lists import MOST_BYTES, read_worker_list


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        (b"A1\nA2\n", ["A1", "A2"]),
        (b"\xef\xbb\xbfA1\r\n\r\nA2", ["A1", "A2"]),
        (b"worker_id\nA1\n", ["A1"]),
        ("worker_id\tgroup\nA1\tx\n".encode("utf-16"), ["A1"]),
        (b"Worker ID;group\nA1;x\nA2;y\n", ["A1", "A2"]),
        (b'AssignmentId,WorkerId,Answer.x\n3A,A1,"Yes, ""so"""\n3B,A2,No\n', ["A1", "A2"]),
        (b"group\tworker\nx\tA1\n\t\n", ["A1"]),
        (b"A1,first\nA2,second\n", ["A1", "A2"]),
        (b"", []),
        (b"\n\n", []),
        (b"worker_id\n", []),
    ],
)
def test_the_ids_of_a_list_or_of_a_table_are_read(content: bytes, ids: list[str]) -> None:
    assert read_worker_list(content) == ids


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"A1\n" * (MOST_BYTES // 3 + 1), "at most 2,097,152 are taken"),
        (b"A1\nA\xff2", "see its byte 5"),
        (b"A\n" * 100_001, "100,001 lines"),
        (b'A1\n"' + b"x" * 200_000 + b'"', "cannot be read as a table"),
    ],
)
def test_what_is_no_such_file_is_refused_with_a_sentence(content: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_worker_list(content)
