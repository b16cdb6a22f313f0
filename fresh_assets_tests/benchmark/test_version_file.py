"""Reading version files: what is taken, what is repaired, what is refused and how it is said."""

import io
import json
from collections import Counter
from datetime import date
from pathlib import Path

import hypothesis.strategies as st
import polars as pl
import pytest
import xlsxwriter
from hypothesis import given, settings

from fresh_assets.benchmark.version_file import COLUMNS, VersionFile, parse_version, refuse_damage
from fresh_assets.errors import BadInputError
from fresh_assets_tests.benchmark.files import Row, as_csv, row, rows


def xlsx(cells: list[list[str | float | bool]]) -> bytes:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"strings_to_urls": False}) as book:
        sheet = book.add_worksheet("freshqa")
        for number, line in enumerate(cells):
            for column, value in enumerate(line):
                sheet.write(number, column, value)
    return out.getvalue()


def table(data: list[Row]) -> list[list[str | float | bool]]:
    return [list(COLUMNS), *([r[c] for c in COLUMNS] for r in data)]


def kinds(parsed: VersionFile) -> Counter[tuple[str, str]]:
    return Counter((f.kind, f.action) for f in parsed.findings)


CLEAN = as_csv(rows())


@pytest.mark.parametrize(
    "content",
    [
        CLEAN,
        as_csv(rows(), warning=False),
        as_csv(rows(), line_end="\r\n"),
        as_csv(rows(), encoding="utf-8-sig"),
        as_csv(rows(), columns=(*COLUMNS[:3], *COLUMNS[:2:-1])),
        json.dumps(rows()).encode(),
        xlsx(table(rows())),
    ],
    ids=["raw export", "header only", "CRLF", "BOM", "reordered", "JSON", "XLSX"],
)
def test_every_format_gives_the_same_rows(content: bytes) -> None:
    parsed = parse_version(content, "v.xlsx" if content.startswith(b"PK") else "v.csv")
    assert parsed.row_hash == parse_version(CLEAN, "v.csv").row_hash
    assert parsed.findings == ()
    assert parsed.questions["answers"].to_list() == [[f"Thing {i}"] for i in range(6)]


def test_types_and_texts() -> None:
    data = rows(
        row(0, next_review="N/A", source="N/A"),
        row(1, next_review="03/12/2024", false_premise="True", source="https://a.b\nhttps://c.d"),
        row(2, next_review="1/3/2026", answer_1="second", note="mind this"),
        row(3, next_review="Q3 2024"),
    )
    questions = parse_version(as_csv(data), "v.csv").questions
    assert questions["next_review"].to_list()[:4] == ["N/A", "03/12/2024", "1/3/2026", "Q3 2024"]
    assert questions["review_date"].to_list()[:4] == [
        None,
        date(2024, 3, 12),
        date(2026, 1, 3),
        None,
    ]
    assert questions["sources"].to_list()[:2] == [[], ["https://a.b", "https://c.d"]]
    assert questions["false_premise"].to_list()[:2] == [False, True]
    assert questions["answers"].to_list()[2] == ["Thing 2", "second"]
    assert questions["note"].to_list()[:3] == [None, None, "mind this"]


@pytest.mark.parametrize(
    ("cells", "finding"),
    [
        ({"answer_0": " Thing 1 "}, ("outer space", "repaired")),
        ({"next_review": "", "answer_0": "Thing 1"}, ("N/A read as missing", "repaired")),
        ({"answer_2": "third"}, ("an empty answer before a filled one", "repaired")),
        ({"answer_1": "Thing 1"}, ("an answer given twice", "kept")),
        ({"answer_0": "https://a.b"}, ("a URL as answer", "kept")),
        ({"next_review": "Fall 2024"}, ("a review date that cannot be read", "kept")),
        ({"answer_0": "13-May-22"}, ("like a date rewritten by Excel", "kept")),
    ],
)
def test_irregular_cells_are_recorded_with_their_place(
    cells: dict[str, str], finding: tuple[str, str]
) -> None:
    parsed = parse_version(as_csv(rows(row(1, **cells))), "v.csv")
    assert kinds(parsed) == {finding: 1}
    assert parsed.findings[0].file_row == 5
    refuse_damage(parsed)


def test_repairs_lose_nothing() -> None:
    dirty = rows(row(1, answer_0=" Thing 1 ", next_review=""), row(2, false_premise="false"))
    assert parse_version(as_csv(dirty), "v").row_hash == parse_version(CLEAN, "v").row_hash


@pytest.mark.parametrize(
    ("data", "place", "kind"),
    [
        (
            rows(row(1, answer_0="13-May-22", answer_1="13-May-22"), row(3, answer_0="Oct-25")),
            "row 5, column answer_0",
            "rewritten by Excel",
        ),
        (
            rows(row(2, question="Who taught Pel鑼 to play?")),
            "row 6, column question",
            "wrong encoding",
        ),
        (rows(row(2, answer_0="PelÃ©")), "row 6, column answer_0", "wrong encoding"),
    ],
    ids=["excel", "gbk", "cp1252"],
)
def test_damage_is_refused_unless_accepted(data: list[Row], place: str, kind: str) -> None:
    parsed = parse_version(as_csv(data), "v.csv")
    with pytest.raises(BadInputError, match="accept-damage") as error:
        refuse_damage(parsed)
    assert f"v.csv, {place}: " in str(error.value)
    assert kind in str(error.value)


@pytest.mark.parametrize("text", ["Škoda", "Pelé", "BTS (방탄소년단)", "67 °F", "– or —", "¥10"])
def test_foreign_letters_are_no_damage(text: str) -> None:
    refuse_damage(parse_version(as_csv(rows(row(1, answer_0=text))), "v.csv"))


def test_typed_answers_of_a_workbook_are_damage() -> None:
    cells = table(rows())
    cells[3][COLUMNS.index("answer_0")] = 42.5
    cells[4][COLUMNS.index("false_premise")] = False
    cells[4][COLUMNS.index("id")] = 3.0
    parsed = parse_version(xlsx(cells), "v.xlsx")
    assert [(f.kind, f.file_row, f.column_name) for f in parsed.findings] == [
        ("typed by a spreadsheet, not text", 4, "answer_0")
    ]
    assert parsed.questions["id"].to_list() == list(range(6))


def test_workbook_under_another_name_is_read() -> None:
    parsed = parse_version(xlsx(table(rows())), "v.csv")
    assert kinds(parsed) == {("XLSX under another name", "repaired"): 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"<!DOCTYPE html><html><body>Sign in</body></html>", "a web page, not a sheet"),
        (b"\xef\xbb\xbf<html>", "a web page, not a sheet"),
        (b"\xd0\xcf\x11\xe0old", "an old XLS workbook"),
        (b"PK\x03\x04broken", "not a readable workbook"),
        (CLEAN.replace(b"thing", b"th\xe9ng", 1), "line 4: not UTF-8"),
        (CLEAN.replace(b"id,split", b"nr,split"), "no header"),
        (CLEAN.replace(b",answer_3", b",answer_x"), "columns missing: answer_3"),
        (CLEAN[: CLEAN.index(b"0,TEST")], "a header but no questions"),
        (CLEAN.replace(b"0,TEST,What", b'0,TEST,"What'), "not a complete CSV"),
        (CLEAN.replace(b"3,TEST,", b"3,"), "row 7: the row has not 20 cells"),
        (CLEAN.replace(b"3,TEST,", b"3,TEST,more,"), "row 7: the row has not 20 cells"),
        (json.dumps([{f"Unnamed: {i}": "x" for i in range(20)}]).encode(), "the header was lost"),
        (b"[1, 2]", "not a list of records"),
        (b"[" * 100_000, "JSON nested too deeply"),
        (CLEAN.replace(b"thing number 1", b"thing\0number 1"), "line 5: a NUL character"),
        (json.dumps(rows(row(2, answer_0="\ud800"))).encode(), "half of a surrogate pair"),
        (as_csv(rows(row(2, id="٣"))), "is not a whole number"),
        (b'[{"id": "0"},', "line 1: not valid JSON"),
        (b'[{"id": "0"}, {"nr": "1"}]', "record 2: the record has other keys"),
        (as_csv(rows(row(2, id="1"))), "row 5, column id: '1' is there twice"),
        (as_csv(rows(row(2, id="x"))), "row 6, column id: 'x' is not a whole number"),
        (as_csv(rows()[1:]), "rows were lost: id 0 is missing"),
        (as_csv(rows(row(2, split="DEMO"))), "row 6, column split: 'DEMO' is not one of TEST, DEV"),
        (as_csv(rows(row(2, fact_type="fast"))), "row 6, column fact_type: 'fast' is not one of"),
        (as_csv(rows(row(2, false_premise="maybe"))), "row 6, column false_premise"),
        (as_csv(rows(row(2, effective_year="22"))), "row 6, column effective_year"),
        (as_csv(rows(row(2, question=" "))), "row 6, column question: '' is empty"),
        (as_csv(rows(row(2, answer_0=""))), "row 6, column answer_0"),
        (
            as_csv(rows(row(2, question="what is the name of thing number 1"))),
            "row 5, column question",
        ),
    ],
)
def test_what_cannot_be_trusted_is_refused_with_its_place(content: bytes, message: str) -> None:
    with pytest.raises(BadInputError) as error:
        parse_version(content, "v.csv")
    assert message in str(error.value)
    assert str(error.value).startswith("v.csv")
    assert "\n" not in str(error.value)


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_any_bytes_are_parsed_or_refused(content: bytes) -> None:
    for candidate in (content, CLEAN[:200] + content + CLEAN[200:]):
        try:
            parse_version(candidate, "v.csv")
        except BadInputError:
            continue


VERDICTS = {
    "2023-11-13.csv": 0,
    "2023-12-19_a.csv": 0,
    "2023-12-19_b_mojibake.csv": 179,
    "2024-02-05.csv": 0,
    "2024-03-04.csv": 0,
    "2024-03-11.csv": 0,
    "2024-05-27.xlsx": 0,
    "2025-03-31.json": 0,
    "2025-03-31_broken_header.json": None,
    "2025-11-24_b_excel_csv.csv": 148,
    "2025-11-24_c_excel_csv.csv": 148,
}
"""Damaged cells of every real file; None: refused outright."""


@pytest.mark.parametrize("name", VERDICTS)
def test_real_files_get_the_right_verdict(real: Path, name: str) -> None:
    content = (real / "versions" / name).read_bytes()
    if VERDICTS[name] is None:
        with pytest.raises(BadInputError, match="the header was lost"):
            parse_version(content, name)
        return
    parsed = parse_version(content, name)
    assert len(parsed.damage) == VERDICTS[name]
    assert len(parsed.questions) == 600
    normalised = real / "normalized" / f"freshqa_{name[:10]}.csv"
    if not parsed.damage:
        assert parse_version(normalised.read_bytes(), "n.csv").row_hash == parsed.row_hash


def test_statistics_of_the_real_versions(real: Path) -> None:
    stats = pl.read_csv(real / "version_stats.csv")
    for expected in stats.iter_rows(named=True):
        file = real / "normalized" / f"freshqa_{expected['version']}.csv"
        q = parse_version(file.read_bytes(), file.name).questions
        valid = (q["split"] == "TEST") & ~q["false_premise"]
        assert (q["split"] == "TEST").sum() == expected["test"]
        assert q["false_premise"].sum() == expected["false_premise"]
        assert valid.sum() == expected["test_vp"]
        assert (valid & (q["fact_type"] == "fast-changing")).sum() == expected["vp_fast"]
        assert (valid & (q["num_hops"] == "multi-hop")).sum() == expected["vp_multi_hop"]
        assert (q["next_review"] == "N/A").sum() == expected["nr_na"]
        assert (q["sources"].list.len() == 0).sum() == expected["source_na"]
        assert q["answers"].list.len().sum() == expected["answers_total"]
