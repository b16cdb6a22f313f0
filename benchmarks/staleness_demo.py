"""The review queue on the demo world, where every truth is known: `python -m benchmarks.staleness_demo`.

Every week is refreshed as its time comes. A reviewer looks at the first 5, 10 or 20 questions of the
queue each week. Precision: share of those whose ground truth was stale. Recall: share of the stale ground
truths that were looked at before upstream had them right. Delay: weeks from the first week that it was
stale to the look. Stale: on the day that the snapshot shows, or by the end of the week, which is what the
risk means. Baselines: the risk from the history alone, the same looks by review class (due dates first,
then `frequently`), and at random. `--home` keeps the refreshed weeks (minutes) for another run.
"""

import argparse
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fresh_assets.benchmark.imports import Source
from fresh_assets.demo.files import Demo, make_demo, write_demo
from fresh_assets.refresh import Platform
from fresh_assets.settings import Settings
from fresh_assets.staleness.queue import learn_with_signals, review_queue
from fresh_assets.staleness.risk import RiskModel

BUDGETS = (5, 10, 20)
LEARNING = 4
"""Weeks at the beginning that are not scored: little is known then."""
REVIEWS = {"frequently": 1, "occasionally": 2, "N/A": 3}
ORDERS = ("risk", "history alone", "review class", "random")
Queues = Mapping[date, Sequence[str]]
Stale = Mapping[date, set[tuple[str, str]]]
"""Stale questions by week, with their true answer."""


def refreshed(home: Path, demo: Demo) -> Platform:
    """A home in which every week of the world was refreshed when its version was the newest."""
    (home / "systems.toml").write_text('[systems.search-answer]\nmethod = "search_answer"\n')
    platform = Platform(Settings(home=home, systems_file=home / "systems.toml"))
    write_demo(demo, home)
    for day in demo.days:
        file = home / "demo" / "versions" / f"{day}.csv"
        platform.import_version(file.read_bytes(), Source(day, file.name, "demo"))
        platform.refresh(day, [], lambda _: None)
    return platform


def queues(platform: Platform, demo: Demo) -> tuple[dict[str, Queues], RiskModel | None]:
    """The order of questions by week, by risk and by the baselines; and the last model."""
    found: dict[str, dict[date, list[str]]] = {name: {} for name in ORDERS}
    model = None
    with platform.warehouse.reader() as con:
        for week in demo.days:
            model = learn_with_signals(con, week, week)
            queue = review_queue(con, week, model)
            history = review_queue(con, week, replace(model, signals=None) if model else None)
            rows = queue.sort("question").select("question", "next_review").rows()
            by_class = sorted(rows, key=lambda row: (REVIEWS.get(row[1], 0), row[1], row[0]))
            drawn = random.Random(str(week)).sample(rows, len(rows))
            ordered = (
                queue["question"].to_list(),
                history["question"].to_list(),
                [row[0] for row in by_class],
                [row[0] for row in drawn],
            )
            for name, questions in zip(ORDERS, ordered, strict=True):
                found[name][week] = questions
    return found, model


def stale_questions(demo: Demo, shown: Mapping[date, date]) -> Stale:
    """Questions whose ground truth was not true on the day that the snapshot of a week shows."""
    return {
        week: {
            (demo.wording(question, week), true)
            for question in demo.questions
            for true in [question.truth(demo.world, day).answers[0]]
            if true != demo.known_to_maintainers(question, week).answers[0]
        }
        for week, day in shown.items()
    }


def scores(queue: Queues, stale: Stale, budget: int) -> tuple[float, float, float]:
    """(precision, recall, mean delay in weeks) of looking at the first of the queue each week."""
    weeks = sorted(stale)
    begun: dict[tuple[str, str], int] = {}
    found: dict[tuple[str, str], int] = {}
    hits = looked = 0
    for number, week in enumerate(weeks):
        for case in stale[week]:
            begun.setdefault(case, number)
        if number < LEARNING:
            continue
        corrected = {question for question, _ in found if (question, _) in stale[week]}
        first = [q for q in queue[week] if q not in corrected][:budget]
        looked += len(first)
        for case in stale[week]:
            if case[0] in first:
                hits += 1
                found.setdefault(case, number)
    asked = [case for week in weeks[LEARNING:] for case in stale[week]]
    every = set(asked)
    delays = [found[case] - max(begun[case], LEARNING) for case in found]
    mean = sum(delays) / len(delays) if delays else float("nan")
    return hits / looked, len(set(found) & every) / len(every), mean


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--weeks", type=int, default=14)
    parser.add_argument("--home", type=Path)
    options = parser.parse_args()
    demo = make_demo(options.questions, versions=options.weeks)
    console = Console(width=100)
    with tempfile.TemporaryDirectory() as folder:
        home = options.home or Path(folder)
        home.mkdir(exist_ok=True)
        made = (home / "warehouse.duckdb").exists()
        platform = Platform(Settings(home=home)) if made else refreshed(home, demo)
        ordered, model = queues(platform, demo)
        with platform.warehouse.reader() as con:
            shown = dict(
                con.sql("SELECT week, max(as_of) FROM search.results GROUP BY 1").fetchall()
            )
    ends = {week: week + timedelta(days=6) for week in shown}
    for by, days in (("on the day of the snapshot", shown), ("by the end of the week", ends)):
        stale = stale_questions(demo, days)
        scored = sorted(stale)[LEARNING:]
        number = sum(len(stale[week]) for week in scored) / len(scored)
        table = Table(
            title=f"{options.questions} questions, {len(scored)} weeks; stale {by}: {number:.1f} a week"
        )
        for column in ("looks a week", "order", "precision", "recall", "delay (weeks)"):
            table.add_column(column, justify="right")
        for budget in BUDGETS:
            for name, queue in ordered.items():
                precision, recall, delay = scores(queue, stale, budget)
                table.add_row(
                    str(budget), name, f"{precision:.2f}", f"{recall:.2f}", f"{delay:.2f}"
                )
        console.print(table)
    if model:
        signals = model.table().filter(part="signals").select("feature", "coefficient")
        for feature, coefficient in signals.iter_rows():
            console.print(f"{coefficient:+.2f} {feature}", highlight=False)


if __name__ == "__main__":
    main()
