"""What a person is asked one after the other in a terminal: the review queue, answers to rate.

Every answer of the person is recorded at once.
"""

from datetime import date

import typer
from rich.console import Console

from fresh_assets.errors import UserError
from fresh_assets.judging.people import MODES, Item, rating_rows, read_items, sample, shuffled
from fresh_assets.refresh import Platform
from fresh_assets.staleness.review import Case, Decision, open_cases
from fresh_assets.terminal import plain

CHOICES = {"k": "keep", "c": "correct", "r": "reword", "t": "retire"}
RATINGS = {"c": "correct", "i": "incorrect"}
LONGEST = 300
"""Characters shown of a piece of evidence."""


def walk_queue(platform: Platform, week: date, reviewer: str, at_most: int, out: Console) -> int:
    """Review the first open questions of the queue; return how many were decided."""
    with platform.warehouse.reader() as con:
        cases = open_cases(con, week, at_most)
    if not cases:
        raise UserError(f"nothing to review in week {week}: `fresh-assets refresh` fills the queue")
    decided = 0
    try:
        for case in cases:
            _show_case(case, out)
            decided += _decide(platform, week, case, reviewer, out)
    except typer.Abort:
        out.print()
    return decided


def walk_answers(
    platform: Platform, week: date, rater: str, answers: int, out: Console
) -> tuple[int, int]:
    """Rate the rater's sample of the week; return how many were rated, and how many are left."""
    with platform.warehouse.reader() as con:
        items = shuffled(sample(read_items(con, week), answers, week), rater)
        done = con.execute(
            "SELECT answer_hash, system, question_key FROM eval.human_ratings "
            "WHERE week = ? AND rater = ?",
            [week, rater],
        ).fetchall()
    left = [i for i in items if (i.answer_hash, i.system, i.question_key) not in done]
    rated = 0
    try:
        for item in left:
            _show_item(item, rated + 1, len(left), out)
            ratings = {mode: RATINGS[_choice(mode, RATINGS)] for mode in MODES}
            comment = typer.prompt("comment", "", show_default=False)
            platform.add_ratings(week, rater, rating_rows(item, ratings, comment, rater, week))
            rated += 1
    except typer.Abort:
        out.print()
    return rated, len(left) - rated


def _show_case(case: Case, out: Console) -> None:
    risk = "unknown" if case.risk is None else f"{case.risk:.0%}"
    lines = [
        f"\n[bold]{case.place}. {plain(case.question)}[/bold]",
        f"now:      {plain(' | '.join(case.answers))}",
        f"risk:     {risk}; {plain('; '.join(case.reasons))}",
    ]
    if case.proposed_answer:
        lines.append(f"proposed: [yellow]{plain(case.proposed_answer)}[/yellow]")
    for day, text, url in case.evidence:
        lines.append(
            f"[dim]{day or 'undated':<10}  {plain(text[:LONGEST])}  {plain(url or '')}[/dim]"
        )
    for line in lines:
        out.print(line, highlight=False, soft_wrap=True)


def _decide(platform: Platform, week: date, case: Case, reviewer: str, out: Console) -> bool:
    """Ask until the decision holds together; False if the question is skipped."""
    while True:
        chosen = _choice(
            "keep, correct, reword, t: retire, s: skip, q: quit", {**CHOICES, "s": "", "q": ""}
        )
        if chosen == "q":
            raise typer.Abort
        if chosen == "s":
            return False
        made = _ask(case, CHOICES[chosen], reviewer)
        try:
            platform.decide(week, made)
        except UserError as error:
            out.print(f"[red]{plain(str(error))}[/red]", highlight=False)
            continue
        return True


def _ask(case: Case, decision: str, reviewer: str) -> Decision:
    answers: tuple[str, ...] = ()
    wording = None
    if decision == "correct":
        given = typer.prompt("answers, the preferred first, with | between", case.proposed_answer)
        answers = tuple(text.strip() for text in given.split("|"))
    if decision == "reword":
        wording = typer.prompt("question").strip()
    reason = typer.prompt("reason", "still true" if decision == "keep" else None)
    source = typer.prompt("source (address)", None if decision == "correct" else "")
    return Decision(case.question_key, decision, reason, reviewer, source or None, answers, wording)


def _show_item(item: Item, number: int, of: int, out: Console) -> None:
    premise = " [yellow](false premise)[/yellow]" if item.false_premise else ""
    for line in (
        f"\n[bold]{number} of {of}. {plain(item.question)}[/bold]{premise}",
        f"correct:  {plain(' | '.join(item.answers))}",
        f"response: {plain(item.response)}",
    ):
        out.print(line, highlight=False, soft_wrap=True)


def _choice(question: str, known: dict[str, str]) -> str:
    """First letter of one of `known`, asked for until it is one."""
    while True:
        letter = str(typer.prompt(f"{question} [{'/'.join(known)}]")).strip().lower()[:1]
        if letter in known:
            return letter
