"""Write the world as the files a real benchmark has: versions, upstream list, corpus, answers."""

import csv
import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from fresh_assets.benchmark.version_file import ANSWERS, COLUMNS
from fresh_assets.demo.questions import PACES, Question, Truth, make_questions
from fresh_assets.demo.workflows import catalog_files, catalogs, request_file
from fresh_assets.demo.world import Fact, World, changes, make_world
from fresh_assets.search.corpus import Document, write_corpus

FIRST_VERSION = date(2026, 1, 5)
VERSIONS = 6
CUTOFF = date(2025, 9, 1)
"""Last day that the frozen reference system knows of."""
LATE = 0.15
"""Share of changes that the ground truth takes up one version late: answers gone stale."""
REWORDED = 0.02
SUBJECTS_PER_QUESTION = 0.12
NEWS_KEPT = 6
REFERENCES = ("demo/all-knowing", "demo/frozen-2025-09")
_WARNING = "Warning: a fictional world made for the demonstration of fresh_assets"


@dataclass(frozen=True)
class Demo:
    """A world with its questions and the days of its versions."""

    world: World
    questions: list[Question]
    days: list[date]
    rng_seed: int

    def known_to_maintainers(self, question: Question, day: date) -> Truth:
        """The ground truth of a version: mostly the truth, sometimes a week late."""
        truth = question.truth(self.world, day)
        drawn = random.Random(f"{self.rng_seed}|{question.wordings[0]}|{truth.since}")  # noqa: S311
        earlier = day - timedelta(days=7)
        is_late = truth.since > earlier >= self.days[0] and drawn.random() < LATE
        return question.truth(self.world, earlier) if is_late else truth

    def wording(self, question: Question, day: date) -> str:
        """The wording of a version: a few questions are reworded on the way."""
        drawn = random.Random(f"{self.rng_seed}|{question.wordings[0]}")  # noqa: S311
        reworded = drawn.random() < REWORDED * len(self.days)
        since = drawn.choice(self.days[1:])
        return question.wordings[-1] if reworded and day >= since else question.wordings[0]


def make_demo(number: int = 120, seed: int = 7, versions: int = VERSIONS) -> Demo:
    """Make the world and `number` questions from `seed`, in `versions` weekly versions."""
    rng = random.Random(seed)  # noqa: S311
    days = [FIRST_VERSION + timedelta(weeks=week) for week in range(versions)]
    world = make_world(int(number * SUBJECTS_PER_QUESTION) + 6, days, rng)
    return Demo(world, make_questions(world, number, rng, days), days, seed)


def version_csv(demo: Demo, day: date) -> bytes:
    """One version as upstream exports it: warning row, empty row, header, sorted rows."""
    rows = sorted(_rows(demo, day), key=_upstream_order)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([[_WARNING, *[""] * 19], [""] * 20, COLUMNS])
    writer.writerows([str(i), *row[1:]] for i, row in enumerate(rows))
    return text.getvalue().encode()


def upstream_readme(demo: Demo) -> str:
    """The list of versions, newest first, with an irregular label as upstream has them."""
    lines = ["# A fictional benchmark", "", "## FreshQA"]
    for i, day in enumerate(reversed(demo.days)):
        label = f"FreshQA {day:%B} {day.day}" + ("" if i == 2 else f", {day.year}")
        lines += [
            f"[{label}](https://docs.google.com/spreadsheets/d/demo-{day:%Y%m%d}/edit?usp=sharing)",
            "",
        ]
        if i == 0:
            following = day + timedelta(days=7)
            lines += [
                f"**Next update:** {following:%B} {following.day}, {following.year}.",
                "",
                "Older versions:",
                "",
            ]
    return "\n".join(lines)


def corpus(demo: Demo) -> list[Document]:
    """Dated pages: an encyclopedia of the year before, news of changes, idle talk."""
    pages = [page for fact in demo.world.facts.values() for page in _pages(fact, demo)]
    return sorted(pages, key=lambda page: (page.date, page.url))


def reference_answers(demo: Demo, system: str, day: date) -> bytes:
    """Answers of a reference system on `day`, to be imported like any recorded answers.

    `demo/all-knowing` knows the truth of the day; `demo/frozen-2025-09` that of its last day, and
    believes every premise.
    """
    say: Callable[[Question], str] = (
        _all_knowing(demo, day) if system == REFERENCES[0] else _frozen(demo)
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["question", "answer"])
    writer.writerows([demo.wording(q, day), say(q)] for q in demo.questions)
    return text.getvalue().encode()


def truth_csv(demo: Demo) -> bytes:
    """What is true and what the ground truth says, question by version: the key to staleness."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["version", "question", "is_stale", "true_answer", "true_since", "ground_truth"]
    )
    for day in demo.days:
        for question in demo.questions:
            true, known = question.truth(demo.world, day), demo.known_to_maintainers(question, day)
            stale = true.answers != known.answers
            row = [
                demo.wording(question, day),
                stale,
                true.answers[0],
                true.since,
                known.answers[0],
            ]
            writer.writerow([day, *row])
    return text.getvalue().encode()


def write_demo(demo: Demo, home: Path) -> None:
    """Write everything below `home`: corpus, upstream list, versions, reference answers, truth."""
    files = {home / "upstream" / "README.md": upstream_readme(demo).encode()}
    folder = home / "demo"
    files[folder / "truth.csv"] = truth_csv(demo)
    for day in demo.days:
        files[folder / "versions" / f"{day}.csv"] = version_csv(demo, day)
        for system in REFERENCES:
            files[folder / "answers" / system / f"{day}.csv"] = reference_answers(demo, system, day)
    for file, content in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    write_corpus(corpus(demo), home / "corpus.jsonl")


def write_deployments(home: Path, share: float = 1.0) -> dict[str, dict[str, Path]]:
    """Write catalogs and requests of the two deployments; {catalog: {steps, tables, requests}}.

    `share`: of the requests; 0 for no deployments.
    """
    written: dict[str, dict[str, Path]] = {}
    for key, deployment in catalogs(f"{FIRST_VERSION}") if share else ():
        content = {**catalog_files(deployment), "requests": request_file(deployment, share)}
        written[key] = {}
        for what, lines in content.items():
            file = home / "demo" / "catalogs" / key / f"{what}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(lines)
            written[key][what] = file
    return written


def _rows(demo: Demo, day: date) -> Iterator[list[str]]:
    for question in demo.questions:
        known = demo.known_to_maintainers(question, day)
        year = "before 2022" if known.since.year < 2022 else str(known.since.year)
        answers = [*known.answers, *[""] * (len(ANSWERS) - len(known.answers))]
        yield [
            "", "TEST" if question.is_test else "DEV", demo.wording(question, day), year,
            _next_review(question, day), str(question.is_false).upper(),
            "multi-hop" if len(question.chain) == 2 else "one-hop", PACES[question.pace],
            _url(question.chain[-1], known.since), *answers, "",
        ]  # fmt: skip


def _next_review(question: Question, day: date) -> str:
    if question.pace == "never":
        return "N/A"
    if question.pace == "slow":
        return "occasionally"
    return f"{day + timedelta(days=7):%m/%d/%Y}" if len(question.wordings[0]) % 2 else "frequently"


def _upstream_order(row: list[str]) -> tuple[object, ...]:
    paces = ("slow-changing", "never-changing", "fast-changing")
    return (
        row[1] == "DEV",
        row[5] == "FALSE",
        paces.index(row[7]),
        row[6] == "multi-hop",
        row[3],
        row[4],
        row[2],
    )


def _all_knowing(demo: Demo, day: date) -> Callable[[Question], str]:
    return lambda question: question.truth(demo.world, day).sentence


def _frozen(demo: Demo) -> Callable[[Question], str]:
    return lambda question: question.accepted or question.truth(demo.world, CUTOFF).sentence


def _pages(fact: Fact, demo: Demo) -> Iterator[Document]:
    relation, slots = fact.relation, {"s": fact.subject}
    written = demo.days[0] - timedelta(days=200 + len(fact.subject) * 7)
    if relation.pace != "fast":
        since, value = fact.at(written)
        about = relation.statement.format(v=value, **slots)
        yield Document(
            _url(fact, since), "lexicon.example", written, f"{fact.subject}: {relation.name}",
            f"{about} This entry of the Lexicon describes {fact.subject} as of {written:%B %Y}.",
        )  # fmt: skip
    for day, old, new in changes(fact)[-NEWS_KEPT:]:
        yield Document(
            _url(fact, day), "courier.example", day, f"News about {fact.subject}",
            relation.news.format(v=new, old=old, **slots),
        )  # fmt: skip
    day, value = fact.at(demo.days[0])
    claim = relation.statement.format(v=value, **slots)
    yield Document(
        f"{_url(fact, day)}-talk", "gazette.example", max(day, written) + timedelta(days=3),
        f"Talk about {fact.subject}",
        f"Much is being said about {fact.subject}, but nothing is decided. {claim}",
    )  # fmt: skip


def _url(fact: Fact, day: date) -> str:
    slug = fact.subject.lower().replace(" ", "-")
    return f"https://www.world.example/{slug}/{fact.relation.name}/{day}"
