"""Ask a system one question now, outside any week."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from fresh_assets.answers.answering import connect, make_pool, make_searcher
from fresh_assets.answers.asking import Asked, Asker, Response
from fresh_assets.answers.systems import Asking, FreshPrompt, read_systems
from fresh_assets.errors import UserError
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive


def ask_now(
    question: str, name: str, settings: Settings, on_text: Callable[[str], None]
) -> Response:
    """The response to a new question, with evidence searched today where the method needs any.

    `on_text` gets the reply as it comes; nothing if it was asked before.
    """
    systems = read_systems(settings.systems_toml)
    system = systems.systems.get(name)
    if not isinstance(system, Asking):
        asking = [n for n, s in systems.systems.items() if isinstance(s, Asking)]
        raise UserError(
            f"{name!r} asks no model: systems that do are {', '.join(asking) or 'none'}"
        )
    today = datetime.now(UTC).date()
    archive = Archive(settings.archive_file)
    searcher = make_searcher(system.engine or settings.engines[0], settings, archive, today)

    async def ask() -> Response:
        asked = Asked("", question)
        if isinstance(system, FreshPrompt):
            asked = Asked("", question, tuple(await searcher(question, asked)))
        with connect(system, systems, settings) as endpoint:
            async with make_pool(system, endpoint, settings, on_text) as pool:
                asker = Asker(system, endpoint.name or endpoint.url, pool, today, searcher)
                return await asker.ask(asked)

    return asyncio.run(ask())
