"""Every method and ablation with a local model: `python -m benchmarks.methods HOME [--at-most N]`.

HOME is a home whose newest week has a snapshot (the demo world, or an imported real week). The
systems are written to HOME/methods.toml; the table is printed from HOME's published file.
"""

import argparse
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fresh_assets.refresh import Platform
from fresh_assets.settings import Settings
from fresh_assets.warehouse.publish import open_latest

MODEL = 'endpoint = "local"\nmodel = "SmolLM2-135M-Instruct"\nmax_tokens = 48\nprompt_tokens = 3600'
FRESH = 'method = "freshprompt"\ndemonstrations = 1'
SYSTEMS = {
    "closed-book": 'method = "closed_book"',
    "few-shot": 'method = "few_shot"',
    "chain-of-thought": 'method = "chain_of_thought"',
    "self-ask": 'method = "self_ask"',
    "decomposed": 'method = "decomposed"\ndemonstrations = 1\nevidence = { kept = 4 }',
    "freshprompt": f"{FRESH}\nevidence = {{ kept = 5 }}",
    "evidence-1": f"{FRESH}\nevidence = {{ kept = 1 }}",
    "evidence-10": f"{FRESH}\nevidence = {{ kept = 10 }}",
    "search-order": f'{FRESH}\nevidence = {{ kept = 5, order = "search" }}',
    "random-order": f'{FRESH}\nevidence = {{ kept = 5, order = "random" }}',
    "no-box": f"{FRESH}\nevidence = {{ kept = 5, answer_box = false }}",
    "no-box-no-related": f"{FRESH}\nevidence = {{ kept = 5, answer_box = false, related = 0, questions_and_answers = 0 }}",
    "snippets-only": f"{FRESH}\nevidence = {{ kept = 5, snippets_only = true }}",
    "upstream": f"{FRESH}\nevidence = {{ kept = 5, upstream_compatible = true }}",
    "premise-check": f"{FRESH}\npremise_check = true\nevidence = {{ kept = 5 }}",
    "long-answers": f"{FRESH}\nlong_answers = true\nevidence = {{ kept = 5 }}",
    "demonstrations-5": 'method = "freshprompt"\ndemonstrations = 5\nevidence = { kept = 3 }',
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("--week", type=date.fromisoformat)
    parser.add_argument("--at-most", type=int, default=30)
    chosen = parser.parse_args()
    file = chosen.home / "methods.toml"
    tables = (
        f'[systems."{n}"]\n{MODEL}\nat_most = {chosen.at_most}\n{o}\n' for n, o in SYSTEMS.items()
    )
    file.write_text("\n".join(tables))
    platform = Platform(Settings(home=chosen.home, systems_file=file, max_unrated=1))
    week = chosen.week or platform.default_week()
    platform.refresh(week, list(SYSTEMS), Console(stderr=True).print)
    with open_latest(platform.settings.published) as con:
        rows = con.execute(
            """
            SELECT system, count(*) FILTER (WHERE state <> 'deferred'),
                count(*) FILTER (WHERE state IN ('answered', 'truncated')),
                count(*) FILTER (WHERE state = 'refused'),
                count(*) FILTER (WHERE rating = 'correct'),
                count(*) FILTER (WHERE rating IN ('correct', 'incorrect') AND state <> 'deferred'),
                sum(a.cost), sum(a.input_tokens) // greatest(1, count(a.input_tokens)), sum(a.seconds)
            FROM eval.answers AS a JOIN eval.judgements USING (week, system, question_key)
            WHERE week = ? AND is_current AND mode = 'relaxed' AND list_contains(?, system)
            GROUP BY system
            """,
            [week, list(SYSTEMS)],
        ).fetchall()
    table = Table(title=f"SmolLM2-135M, week {week}, lexical judge, relaxed")
    for column in (
        "system",
        "asked",
        "answered",
        "refused",
        "correct / rated",
        "cost",
        "input tokens",
        "seconds",
    ):
        table.add_column(column, justify="left" if column == "system" else "right")
    order = list(SYSTEMS)
    for system, asked, answered, refused, correct, rated, cost, tokens, seconds in sorted(
        rows, key=lambda r: order.index(r[0])
    ):
        table.add_row(
            system,
            str(asked),
            str(answered),
            str(refused),
            f"{correct} / {rated}",
            f"{cost:.2f}",
            str(tokens),
            f"{seconds:.0f}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
