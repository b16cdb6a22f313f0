"""Importing versions: revisions, and the differences between real versions."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest

from fresh_assets.benchmark.changes import compare, find_changes
from fresh_assets.benchmark.identity import link_questions
from fresh_assets.benchmark.imports import Source, import_version, parse_revisions, read_revisions
from fresh_assets.benchmark.version_file import parse_version
from fresh_assets.errors import BadInputError, UserError
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.slices import write_slice
from fresh_assets_tests.benchmark.files import as_csv, row, rows

DAY = date(2024, 3, 4)


def imported(
    warehouse: Warehouse, archive: Archive, content: bytes, day: date = DAY
) -> tuple[int, bool]:
    done = import_version(warehouse, archive, content, Source(day, "v.csv"))
    with warehouse.reader() as con:
        known = read_revisions(con, day)
    questions = parse_revisions(archive, known)
    write_slice(warehouse, "freshqa.questions", {"version": day.isoformat()}, questions)
    return done.revision, done.is_new


def link_all(warehouse: Warehouse) -> None:
    with warehouse.reader() as con:
        texts = con.sql("""
            SELECT sequence, version, question_hash, question, split, false_premise
            FROM freshqa.questions JOIN freshqa.revisions USING (version, revision)
        """).pl()
    write_slice(warehouse, "freshqa.question_links", {}, link_questions(texts))


def test_other_content_is_a_new_revision_and_both_are_kept(
    warehouse: Warehouse, archive: Archive
) -> None:
    first, second = as_csv(rows()), as_csv(rows(row(1, answer_0="corrected")))
    assert imported(warehouse, archive, first) == (1, True)
    assert imported(warehouse, archive, as_csv(rows(), line_end="\r\n")) == (1, False)
    assert imported(warehouse, archive, second) == (2, True)
    link_all(warehouse)
    with warehouse.reader() as con:
        both = con.execute(
            "SELECT revision, answers FROM freshqa.questions WHERE id = 1 ORDER BY 1"
        )
        assert both.fetchall() == [(1, ["Thing 1"]), (2, ["corrected"])]
        current = con.execute("SELECT answers FROM freshqa.current_questions WHERE id = 1")
        assert current.fetchall() == [(["corrected"],)]
    assert imported(warehouse, archive, first) == (3, True)


def test_refused_file_leaves_nothing(warehouse: Warehouse, archive: Archive) -> None:
    with pytest.raises(BadInputError):
        import_version(warehouse, archive, b"<html>", Source(DAY, "v.csv"))
    damaged = as_csv(rows(*(row(i, answer_0="13-May-22") for i in range(4))))
    with pytest.raises(BadInputError, match="accept-damage"):
        import_version(warehouse, archive, damaged, Source(DAY, "v.csv"))
    with warehouse.reader() as con:
        assert con.execute("SELECT count(*) FROM freshqa.revisions").fetchall() == [(0,)]
    done = import_version(warehouse, archive, damaged, Source(DAY, "v.csv", accept_damage=True))
    assert done.is_new
    with warehouse.reader() as con:
        found = con.execute("SELECT kind, action, count(*) FROM freshqa.findings GROUP BY ALL")
        assert found.fetchall() == [("rewritten by Excel", "damaged", 4)]


def test_a_file_that_lost_its_tail_is_refused_unless_accepted(
    warehouse: Warehouse, archive: Archive
) -> None:
    import_version(warehouse, archive, as_csv(rows(number=40)), Source(DAY, "v.csv"))
    cut = as_csv(rows(number=20))
    with pytest.raises(BadInputError, match="only 20 questions, while version 2024-03-04 has 40"):
        import_version(warehouse, archive, cut, Source(date(2024, 3, 11), "v.csv"))
    accepted = Source(date(2024, 3, 11), "v.csv", accept_damage=True)
    assert import_version(warehouse, archive, cut, accepted).is_new


@pytest.mark.parametrize("day", [date(1, 1, 1), date(2990, 1, 1)])
def test_odd_dates_are_refused(warehouse: Warehouse, archive: Archive, day: date) -> None:
    with pytest.raises(UserError, match="is outside 2000-01-01 to"):
        import_version(warehouse, archive, as_csv(rows()), Source(day, "v.csv"))


def test_worlds_are_not_mixed(warehouse: Warehouse, archive: Archive) -> None:
    import_version(warehouse, archive, as_csv(rows()), Source(DAY, "v.csv", "demo"))
    with pytest.raises(UserError, match="holds the demo world"):
        import_version(warehouse, archive, as_csv(rows()), Source(date(2024, 3, 11), "v.csv"))


def test_changes_field_by_field(warehouse: Warehouse, archive: Archive) -> None:
    imported(
        warehouse, archive, as_csv(rows(row(4, question="Which stone is the hardest of all?")))
    )
    later = rows(
        row(0, answer_0="Thing 0", answer_1="The thing"),
        row(1, answer_0="new", answer_1="Thing 1"),
        row(2, answer_0="quite another"),
        row(3, question="What is the full name of thing number 3?", effective_year="2024"),
        row(4, question="In which year did the canal open?"),
    )
    second = date(2024, 3, 11)
    imported(warehouse, archive, as_csv(later), second)
    link_all(warehouse)
    with warehouse.reader() as con:
        assert find_changes(con, DAY).is_empty()
        frame = find_changes(con, second)
        with pytest.raises(UserError, match="2024-01-01 is not imported"):
            compare(con, date(2024, 1, 1), second)
    found = sorted((f, d or "") for f, d in frame.select("field", "detail").rows())
    assert found == [
        ("answers", "aliases"),
        ("answers", "first answer"),
        ("answers", "replaced"),
        ("effective_year", ""),
        ("presence", "added"),
        ("presence", "removed"),
        ("question", "reworded"),
    ]


# from, to, same text, id moved, answer list, first answer, disjoint, effective year, next review,
# premise flips, source; among questions of unchanged text. Counted independently beforehand, but
# for the sources of the first pair: cells of that one export end their lines in CRLF, which made
# 43 equal lists of URLs look changed.
REAL_CHANGES = """
2023-11-13 2023-12-19 596 556  29  18  18   0  14 0  27
2023-12-19 2024-02-05 595 500  87  81  79  71  73 3 124
2024-02-05 2024-03-04 599 207  35  32  30  10  41 0  58
2024-03-04 2024-03-11 600 122  21  20  20  10   8 0  38
2024-03-11 2024-05-27 597 412  63  54  51  20  34 1 104
2025-03-31 2025-11-24 581 489 133 114  98  70  50 5 190
"""


def test_changes_between_real_versions(warehouse: Warehouse, archive: Archive, real: Path) -> None:
    texts: dict[date, pl.DataFrame] = {}
    for file in sorted((real / "normalized").glob("*.csv")):
        day = date.fromisoformat(file.stem[-10:])
        import_version(
            warehouse, archive, file.read_bytes(), Source(day, file.name, accept_damage=True)
        )
        texts[day] = parse_version(file.read_bytes(), file.name).questions
        revision = texts[day].with_columns(revision=pl.lit(1, dtype=pl.Int32))
        write_slice(warehouse, "freshqa.questions", {"version": day.isoformat()}, revision)
    link_all(warehouse)
    found = []
    for line in REAL_CHANGES.strip().splitlines():
        earlier, later = (date.fromisoformat(text) for text in line.split()[:2])
        with warehouse.reader() as con:
            frame = compare(con, earlier, later)
            same = con.execute(
                """
                SELECT l.question_key FROM freshqa.current_questions AS e
                JOIN freshqa.current_questions AS l USING (question_hash)
                WHERE e.version = ? AND l.version = ?
                """,
                [earlier, later],
            ).pl()
        frame = frame.join(same, on="question_key")
        answers = frame.filter(pl.col("field") == "answers")
        counts = [
            len(same),
            (frame["field"] == "id").sum(),
            len(answers),
            (answers["detail"] != "aliases").sum(),
            (answers["detail"] == "replaced").sum(),
            *(
                (frame["field"] == name).sum()
                for name in ("effective_year", "next_review", "false_premise", "sources")
            ),
        ]
        found.append([earlier.isoformat(), later.isoformat(), *map(str, counts)])
    assert found == [line.split() for line in REAL_CHANGES.strip().splitlines()]
