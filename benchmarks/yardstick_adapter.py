"""Adapter for the project's yardstick of evaluation engines: answer and judge every question.

Reads YS_* from the environment as the yardstick sets them; writes YS_OUT/summary.json.
"""

import asyncio
import json
import os
import sys
from collections import Counter
from pathlib import Path

from fresh_assets.llm.cache import CallCache
from fresh_assets.llm.pool import Endpoint, Pool, stream
from fresh_assets.llm.request import Request

sys.path.insert(0, os.environ["YS_FOLDER"])
import questions as q

URL = os.environ["YS_BASE_URL"]
OUT = Path(os.environ["YS_OUT"])
AT_ONCE = int(os.environ.get("YS_CONCURRENCY", "32"))


def rows():
    with Path(os.environ["YS_DATASET"]).open() as lines:
        for number, line in enumerate(lines):
            if number < int(os.environ["YS_N"]):
                yield json.loads(line)


async def main() -> None:
    counts: Counter[str] = Counter()
    endpoint = Endpoint(URL, "sk-mock", most_at_once=AT_ONCE, timeout=60)
    async with Pool([endpoint], CallCache(OUT / "calls.sqlite")) as pool:

        async def one(row) -> str:
            asked = tuple((m["role"], m["content"]) for m in q.answer_messages(row["question"]))
            answer = await pool.complete(Request(URL, os.environ["YS_MODEL"], asked))
            if answer.state != "ok":
                return "failed"
            counts["answered"] += 1
            prompt = (("user", q.judge_prompt(row["question"], row["answers"], answer.text)),)
            judged = await pool.complete(
                Request(URL, os.environ["YS_JUDGE"], prompt),
                lambda text: q.parse_verdict(text) is not None,
            )
            if judged.state == "error":
                return "failed"
            return q.parse_verdict(judged.text) or "unjudged"

        async for verdict in stream(rows(), one, AT_ONCE):
            counts[verdict] += 1
    summary = {
        "answered": counts["answered"],
        "judged": counts["correct"] + counts["incorrect"],
        "correct": counts["correct"],
        "unjudged": counts["unjudged"],
        "failed": counts["failed"],
    }
    (OUT / "summary.json").write_text(json.dumps(summary))


asyncio.run(main())
