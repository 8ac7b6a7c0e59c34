"""Tables in four layouts: the same rows read the same from each, and what is no table is refused with what to do."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits.formats.files import rows, workbooks
from hits.formats.files.faults import Faults, FormatErrors, grouped

Grid = Sequence[Sequence[object]]
COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PASSAGES: Grid = [["id", "passage"], ["a", "Rain fell, all day;\nthen it stopped."], ["b", "“Sun” shone \t on it"]]


def separated(grid: Grid, separator: str = ",", encoding: str = "utf-8") -> bytes:
    made = io.StringIO(newline="")
    csv.writer(made, delimiter=separator).writerows(grid)
    return made.getvalue().encode(encoding)


def json_lines(grid: Grid) -> bytes:
    names, *lines = grid
    return "\n".join(json.dumps(dict(zip(map(str, names), line, strict=True))) for line in lines).encode()


def workbook(grid: Grid, **sheets: Grid) -> bytes:
    book = openpyxl.Workbook()
    for line in grid:
        book.active.append(list(line))
    for title, lines in sheets.items():
        for line in lines:
            book.create_sheet(title).append(list(line))
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


WRITERS: dict[str, Callable[[Grid], bytes]] = {
    "table.csv": separated,
    "table.tsv": lambda grid: separated(grid, "\t"),
    "table.jsonl": json_lines,
    "table.xlsx": workbook,
}


def read(content: bytes, name: str = "table.csv") -> list[rows.TableRow]:
    """Every row; FormatErrors with every fault."""
    faults = Faults()
    with rows.opened(io.BytesIO(content), name) as table:
        found = list(table.rows(faults))
    faults.refuse()
    return found


def columns(content: bytes, name: str = "table.csv") -> tuple[str, ...]:
    with rows.opened(io.BytesIO(content), name) as table:
        return table.columns


def faults_of(content: bytes, name: str = "table.csv") -> list[str]:
    with pytest.raises(FormatErrors) as refused:
        read(content, name)
    return list(map(str, grouped(refused.value.errors)))


@pytest.mark.parametrize("name", WRITERS)
def test_each_layout_gives_the_same_columns_and_rows(name: str) -> None:
    content = WRITERS[name](PASSAGES)
    assert columns(content, name) == ("id", "passage")
    assert [cells for _, cells in read(content, name)] == [
        dict(zip(PASSAGES[0], line, strict=True)) for line in PASSAGES[1:]
    ]


# A name is written in one line without spaces around it, and no separator makes it two. What a workbook cannot hold, or
# writes as something else, is left out: control characters, texts that look like a formula or a code of a character.
NAMES = some.text(
    some.characters(codec="utf-8", exclude_characters=',;\t"_', exclude_categories=["C", "Z"]), min_size=1, max_size=8
)
CELLS = some.text(
    some.characters(codec="utf-8", include_characters="\n", exclude_characters="_", exclude_categories=["C"]),
    max_size=12,
)
TABLES = some.lists(NAMES, min_size=1, max_size=4, unique=True).flatmap(
    lambda names: some.lists(some.lists(CELLS, min_size=len(names), max_size=len(names)), min_size=1, max_size=5).map(
        lambda lines: [names, *lines]
    )
)


def is_plain(grid: Grid) -> bool:
    cells = [str(cell) for line in grid for cell in line]
    first_is_json = str(grid[0][0]).startswith(("{", "["))
    return not first_is_json and not any(cell.startswith("=") or cell in workbooks.ERRORS for cell in cells)


@given(TABLES.filter(is_plain))
def test_any_table_reads_back_the_same_from_all_four_layouts(grid: Grid) -> None:
    written = [dict(zip(grid[0], line, strict=True)) for line in grid[1:] if any(str(cell).strip() for cell in line)]
    for name, written_as in WRITERS.items():
        if written:
            assert [cells for _, cells in read(written_as(grid), name)] == written, name
        else:
            assert faults_of(written_as(grid), name)[0].startswith("the file holds no row"), name


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_the_separator_is_found_outside_quotes_and_a_byte_order_mark_is_no_name(separator: str, encoding: str) -> None:
    content = separated([["Name, of; the\tauthor", "text"], ["Åse", "One."]], separator, encoding)
    assert read(content) == [(2, {"Name, of; the\tauthor": "Åse", "text": "One."})]


def test_the_content_says_the_kind_of_file_before_its_name_does() -> None:
    for name, written_as in WRITERS.items():
        if name != "table.tsv":
            assert [cells["id"] for _, cells in read(written_as(PASSAGES), "download")] == ["a", "b"]
    assert [cells["id"] for _, cells in read(json_lines(PASSAGES), "table.csv")] == ["a", "b"]
    assert [cells["id"] for _, cells in read(workbook(PASSAGES), "table.csv")] == ["a", "b"]
    assert read(b"{id},text\na,One.\n") == [(2, {"{id}": "a", "text": "One."})]


def test_values_of_json_lines_are_texts_as_they_are_written() -> None:
    line = '{"id": 007.50, "n": 1.50, "big": 12345678901234567890123, "yes": true, "none": null, "list": [1, 2.5, "ä"]}'
    with pytest.raises(FormatErrors):
        read(line.encode(), "a.jsonl")
    ((_, cells),) = read(line.replace("007.50", "7").encode(), "a.jsonl")
    assert cells == {
        "id": "7", "n": "1.50", "big": "12345678901234567890123", "yes": "true", "none": "", "list": '[1, 2.5, "ä"]'
    }  # fmt: skip


def test_a_field_that_a_line_of_json_lacks_is_empty_and_one_that_comes_late_is_a_fault() -> None:
    lines = [{"id": "a", "text": "T"}, {"id": "b", "source": "web"}]
    content = "\n".join(map(json.dumps, lines)).encode()
    assert [cells for _, cells in read(content, "a.jsonl")] == [
        {"id": "a", "text": "T", "source": ""}, {"id": "b", "text": "", "source": "web"}
    ]  # fmt: skip
    late = b'{"id": "a"}\n' * rows.HEAD_LINES + b'{"id": "b", "source": "web"}\n'
    assert faults_of(late, "a.jsonl") == [
        "line 1001, source: is a field that none of the first 1,000 lines has: add it to one of them"
    ]


def test_numbers_dates_and_truth_of_a_workbook_are_texts() -> None:
    line = [7, 7.0, 0.5, True, date(2026, 3, 1), datetime(2026, 3, 1, 14, 30), None, "x"]
    names = ["whole", "round", "half", "yes", "day", "moment", "none", "last"]
    ((number, cells),) = read(workbook([[], names, [], line]), "a.xlsx")
    assert (number, list(cells.values())) == (
        4,
        ["7", "7", "0.5", "true", "2026-03-01", "2026-03-01 14:30:00", "", "x"],
    )


@pytest.mark.parametrize(("tail", "note"), [(",", "The last column is not read"), (",,", "The last 2 columns are not")])
def test_columns_at_the_end_without_name_and_values_are_left_out(tail: str, note: str) -> None:
    content = f"id,text{tail}\na,One.{tail}\n".encode()
    assert read(content) == [(2, {"id": "a", "text": "One."})]
    with rows.opened(io.BytesIO(content)) as table:
        assert table.remarks()[0].startswith(note)


def test_a_row_may_lack_the_columns_without_a_name_and_no_other() -> None:
    content = b"id,text,,\na,One.,,\nb,Two.\nc,Three.,\n"
    assert [cells["text"] for _, cells in read(content)] == ["One.", "Two.", "Three."]
    with rows.opened(io.BytesIO(content)) as table:
        assert table.remarks() == ["The last 2 columns are not read: there is no name in the first line."]
    assert faults_of(content + b"d\ne,Five.,,x\nf,Six.,,,\n") == [
        "line 5: 1 cell where the first line has 4: quote a text that holds separators",
        "line 6: there is a value in column 4, without a name in the first line: name every column",
        "line 7: 5 cells where the first line has 4: quote a text that holds separators",
    ]


@pytest.mark.parametrize(("name", "written_as"), [("a.csv", separated), ("a.xlsx", lambda grid: workbook(grid))])
def test_a_name_that_is_wrapped_is_joined_with_a_space(name: str, written_as: Callable[[Grid], bytes]) -> None:
    content = written_as([["id", "text of\nthe post"], ["a", "One.\nTwo."]])
    assert read(content, name)[0][1] == {"id": "a", "text of the post": "One.\nTwo."}


@pytest.mark.parametrize(
    ("stored", "text", "told"),
    [
        ("1234567890123456", "1234567890123456", 0),
        ("1234567890123456789", "1234567890123456789", 0),
        ("1.2345678901234568E+16", "12345678901234568", 0),
        ("1234567890123456.0", "1234567890123456", 0),
        ("-1.2345678901234567E+16", "-12345678901234567", 0),
        ("1.23E+16", "1.23E+16", 1),
        ("1.234567890123457e+17", "1.234567890123457e+17", 1),
        ("1E+300", "1E+300", 0),
        ("1.5E+3", "1500", 0),
    ],
)
def test_a_number_of_a_workbook_has_the_digits_that_the_file_has(stored: str, text: str, told: int) -> None:
    head = b'<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c></row>'
    content = as_excel_writes_it(b"", head + b'<row r="2"><c r="A2"><v>%s</v></c></row>' % stored.encode())
    assert read(content, "a.xlsx") == [(2, {"id": text})]
    with rows.opened(io.BytesIO(content), "a.xlsx") as table:
        assert (
            table.remarks()
            == [
                "The workbook does not have all digits of 1 number, such as 1.23E+16: id in line 2. Store ids as texts."
            ][:told]
        )


def test_a_formula_without_a_stored_result_is_a_fault_and_one_with_an_empty_text_is_not() -> None:
    assert faults_of(workbook([["id", "text"], ["a", "=B1"], ["b", "=B1"], ["c", "x"]]), "a.xlsx") == [
        "`text` holds a formula without a stored result: open the workbook in a spreadsheet program and save it there"
        " (2 lines: 2, 3)"
    ]
    assert "a name of a column holds a formula" in faults_of(workbook([["id", "=A1"], ["a", "x"]]), "a.xlsx")[0]
    head = (
        b'<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c></row>'
    )
    line = b'<row r="2"><c r="A2"><f>1+1</f><v>2</v></c><c r="B2" t="str"><f>""</f><v></v></c></row>'
    assert read(as_excel_writes_it(b"", head + line), "a.xlsx") == [(2, {"id": "2", "b": ""})]


def test_the_first_visible_sheet_is_read_and_the_others_are_told() -> None:
    with rows.opened(io.BytesIO(workbook(PASSAGES, Notes=[["other"]], Old=[["other"]])), "a.xlsx") as table:
        assert table.columns == ("id", "passage")
        assert table.note == "The first sheet, “Sheet”, is read; the other 2 sheets are not."


def test_cells_that_a_workbook_leaves_out_are_empty_and_one_without_a_column_is_a_fault() -> None:
    content = workbook([["id", "text", "note"], ["a", "T"], ["b", "T", "N", "more"], ["c", "#REF!", "N"]])
    assert faults_of(content, "a.xlsx") == [
        "line 3: there is a value in column 4, without a name in the first line: name every column",
        "line 4, text: holds #REF!, the result of a formula that failed: correct the formula",
    ]
    assert read(workbook([["id", "text", "note"], ["a", "T"]]), "a.xlsx") == [(2, {"id": "a", "text": "T", "note": ""})]


def archive(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return made.getvalue()


def merged() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["id", "Texts", None])
    book.active.merge_cells("B1:C1")
    book.active.append(["a", "One.", "Two."])
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


CONTENTS = {"[Content_Types].xml": b"<Types/>"}
REFUSED: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.csv", b"", "the file holds no row"),
    "names alone": ("a.csv", b"id,text\n,\n", "the file holds no row"),
    "names of a workbook alone": ("a.xlsx", workbook([["id", "text"]]), "the file holds no row"),
    "a name twice": ("a.csv", b"id,text,id\na,b,c\n", "line 1: the line with the names has 'id' more than once"),
    "an empty name": ("a.csv", b"id,,,text,\na,b,c,d,\n", "the line with the names has none for the columns 2, 3:"),
    "a value without a name": ("a.csv", b"id,text,,\na,b,,d\n", "line 2: there is a value in column 4, without a name"),
    "a merged name": ("a.xlsx", merged(), "line 2: there is a value in column 3, without a name in the first line"),
    "a long name": ("a.csv", b"id," + b"x" * 201 + b"\na,b\n", "is a name of 201 characters, the limit is 200"),
    "many columns": ("a.csv", b",".join(b"c%d" % n for n in range(1001)), "the limit is 1,000 columns"),
    "many fields": ("a.jsonl", json.dumps({str(n): n for n in range(1001)}).encode(), "more than 1,000 fields"),
    "Latin-1": ("a.csv", "id,text\na,Café\nb,Thé\n".encode("latin-1"), "line 2: is not UTF-8: byte 0xe9"),
    "UTF-16": ("a.csv", "id,text\na,b\n".encode("utf-16"), "is UTF-16, or no text at all: save it as UTF-8"),
    "UTF-16 without a mark": ("a.csv", "id,text\na,b\n".encode("utf-16-le"), "is UTF-16, or no text at all"),
    "a quote without an end": ("a.csv", b'id,text\na,"b\n', "the quotes of this row do not match"),
    "a control character": ("a.csv", b"id,text\na,b\x07\n", "line 2, text: holds a control character, U+0007"),
    "a list": ("a.json", b"[1]", "line 1: must be an object, not a list"),
    "no JSON": ("a.jsonl", b"id,text\na,b\n", "is not JSON"),
    "a field twice": ("a.jsonl", b'{"id": "a", "id": "b"}', "line 1: has the field 'id' more than once"),
    "an old workbook": ("a.xls", COMPOUND + bytes(2000), "is a workbook in the old format (.xls): in a spreadsheet"),
    "a password": ("a.xlsx", COMPOUND + bytes(999) + "EncryptedPackage".encode("utf-16-le"), "with a password"),
    "no workbook": ("a.xlsx", b"id,text\na,b\n", "is named .xlsx and is no workbook"),
    "half a workbook": ("a.xlsx", workbook(PASSAGES)[:3000], "is no ZIP archive that can be read"),
    "another archive": ("a.zip", archive(a=b"text"), "is a ZIP archive and no Excel workbook"),
    "an OpenDocument file": ("a.ods", archive(**{"content.xml": b"<a/>"}), "is an OpenDocument file (.ods)"),
    "a binary workbook": ("a.xlsb", archive(**CONTENTS, **{"xl/workbook.bin": b""}), "(.xlsb)"),
    "an empty archive": ("a.xlsx", archive(**CONTENTS, **{"xl/sheet": b""}), "is a workbook that cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_is_refused_with_what_to_do(name: str) -> None:
    filename, content, said = REFUSED[name]
    assert said in "\n".join(faults_of(content, filename))


def test_a_workbook_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = archive(**CONTENTS, **{"xl/sheet": bytes(3_000_000)})
    monkeypatch.setattr(workbooks, "MOST_UNPACKED", 2_000_000)
    assert len(bomb) < 10_000
    assert "is a workbook of 3 MB, unpacked; the limit is 2 MB" in faults_of(bomb, "a.xlsx")[0]


def as_excel_writes_it(strings: bytes, sheet: bytes) -> bytes:
    """A workbook whose texts stand in a list of their own, which the cells point into."""
    main = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    related = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = b"http://schemas.openxmlformats.org/package/2006"
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {b"/xl/workbook.xml": b"sheet.main", b"/xl/sharedStrings.xml": b"sharedStrings"}
    types = b"".join(
        b'<Override PartName="%s" ContentType="%s.%s+xml"/>' % (name, kind, of) for name, of in parts.items()
    )
    sheets = b'<sheets><sheet name="Texts" sheetId="1" r:id="r1"/></sheets>'
    target = b'<Relationship Id="r1" Type="%s/worksheet" Target="worksheets/sheet1.xml"/>' % related
    return archive(**{
        "[Content_Types].xml": b'<Types xmlns="%s/content-types">%s</Types>' % (package, types),
        "xl/workbook.xml": b'<workbook %s xmlns:r="%s">%s</workbook>' % (main, related, sheets),
        "xl/_rels/workbook.xml.rels": b'<Relationships xmlns="%s/relationships">%s</Relationships>' % (package, target),
        "xl/sharedStrings.xml": b"<sst %s>%s</sst>" % (main, strings),
        "xl/worksheets/sheet1.xml": b"<worksheet %s><sheetData>%s</sheetData></worksheet>" % (main, sheet),
    })  # fmt: skip


def test_texts_of_a_workbook_that_stand_in_a_list_are_read_with_their_line_ends() -> None:
    strings = b"<si><t>id</t></si><si><t>text</t></si><si><r><t>One_x000D_\n</t></r><r><t>two.</t></r></si>"
    head = b'<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
    line = b'<row r="7"><c r="A7"><v>5</v></c><c r="B7" t="s"><v>2</v></c></row>'
    assert read(as_excel_writes_it(strings, head + line), "a.xlsx") == [(7, {"id": "5", "text": "One\ntwo."})]
    lost = line.replace(b"<v>2</v>", b"<v>99</v>")
    assert "is a workbook that cannot be read" in faults_of(as_excel_writes_it(strings, head + lost), "a.xlsx")[0]


def test_a_workbook_of_very_many_elements_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = as_excel_writes_it(b"<si/>" * 500_000, b"")
    monkeypatch.setattr(workbooks, "MOST_CELLS", 100_000)
    assert len(bomb) < 20_000
    assert "is a workbook of more than 100,000 cells" in faults_of(bomb, "a.xlsx")[0]


def test_entities_of_a_workbook_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><x>&b;</x>'
    content = io.BytesIO(workbook(PASSAGES))
    made = io.BytesIO()
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(made, "w") as new:
        for member in old.infolist():
            new.writestr(member.filename, bomb if "sheet1" in member.filename else old.read(member))
    assert "is a workbook that cannot be read" in faults_of(made.getvalue(), "a.xlsx")[0]


def test_faults_of_one_kind_are_one_sentence_with_their_lines() -> None:
    lines = ["a,b"] + ["1,2", "1"] * 20 + ["1,2,3"]
    assert faults_of("\n".join(lines).encode()) == [
        "1 cell where the first line has 2: quote a text that holds separators (20 lines: 3, 5, 7, 9, 11 and 15 more)",
        "line 42: 3 cells where the first line has 2: quote a text that holds separators",
    ]


def test_the_first_rows_are_shown_without_reading_the_rest() -> None:
    for name, written_as in WRITERS.items():
        content = written_as([["id", "text"], *([str(n), "T"] for n in range(20))])
        with rows.opened(io.BytesIO(content), name) as table:
            assert [cells["id"] for _, cells in table.first()] == ["0", "1", "2", "3", "4"]
            assert [cells["id"] for _, cells in table.first(2)] == ["0", "1"]
            assert len(list(table.rows(Faults()))) == 20
    with rows.opened(io.BytesIO(b"a,b\n1\n1,2\n" + b"1\n" * 200_000), "a.csv") as table:
        assert table.first() == [(3, {"a": "1", "b": "2"})]


TEXT = "The ferry was late again, and Mara read the paper on the quay. " * 8


def long_table(count: int, name: str) -> bytes:
    lines: Iterable[list[object]] = ([f"r{n}", f"{n} {TEXT}"] for n in range(count))
    return WRITERS[name]([["id", "text"], *lines])


def test_of_100_000_rows_the_one_short_line_is_named() -> None:
    lines = [b"id,text", *(b"r%d,Rain fell on quay %d." % (n, n) for n in range(100_000))]
    lines[77_777] = b"short"
    assert faults_of(b"\n".join(lines)) == [
        "line 77778: 1 cell where the first line has 2: quote a text that holds separators"
    ]


@pytest.mark.parametrize(("name", "few"), [("table.csv", 5000), ("table.jsonl", 5000), ("table.xlsx", 500)])
@pytest.mark.long
def test_five_times_as_many_rows_take_hardly_more_memory(name: str, few: int) -> None:
    def peak(count: int) -> int:
        stream = io.BytesIO(long_table(count, name))
        tracemalloc.start()
        try:
            with rows.opened(stream, name) as table:
                assert sum(1 for _ in table.rows(Faults())) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # The texts of a workbook are kept once, as its format has them.
    assert peak(5 * few) < (1.5 if name != "table.xlsx" else 6) * peak(few)


def test_a_fault_that_repeats_endless_texts_is_cut() -> None:
    faults = Faults()
    faults.add(1, "column " * 100, "no text: " + "x" * 100_000)
    (fault,) = faults.listed
    assert len(fault.place) <= 200 and len(fault.message) <= 600
    assert fault.message.startswith("no text: x") and fault.message.endswith(" more characters were cut off]")
