"""The engines there are, by name: those of engines.toml, the local corpus, imported results."""

import tomllib

import pydantic

from fresh_assets.errors import BadInputError, UserError
from fresh_assets.search import corpus, recorded
from fresh_assets.search.brave import Brave
from fresh_assets.search.corpus import CorpusEngine, read_corpus
from fresh_assets.search.engine import Engine
from fresh_assets.search.live import Adapter, EngineConfig, LiveEngine
from fresh_assets.search.recorded import RecordedEngine
from fresh_assets.search.searxng import SearXNG
from fresh_assets.search.serpapi import SerpApi
from fresh_assets.search.serper import Serper
from fresh_assets.search.wikipedia import Wikipedia
from fresh_assets.settings import Settings

ADAPTERS: dict[str, Adapter] = {
    "serpapi": SerpApi(),
    "serper": Serper(),
    "searxng": SearXNG(),
    "brave": Brave(),
    "wikipedia": Wikipedia(),
}


def read_engines(text: str) -> dict[str, EngineConfig]:
    """Tables of engines.toml; BadInputError names the table and the option that is wrong."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInputError("engines.toml", f"not valid TOML ({error})", "Correct it") from error
    engines = {}
    for name, table in tables.items():
        if name in {corpus.NAME, recorded.NAME}:
            raise BadInputError("engines.toml", f"{name} is built in", "Choose another name")
        try:
            engines[name] = EngineConfig.model_validate(table)
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            option = ".".join(map(str, first["loc"]))
            raise BadInputError(
                "engines.toml", f"{option}: {first['msg']}", "See docs/engines.md", f"[{name}]"
            ) from error
    return engines


def make_engine(name: str, settings: Settings) -> Engine:
    """The engine called `name`, ready to search."""
    if name == corpus.NAME:
        return CorpusEngine(read_corpus(settings.corpus_file), settings.evidence_per_question)
    if name == recorded.NAME:
        return RecordedEngine()
    config = _config(name, settings)
    variable = config.api_key_env or ADAPTERS[config.type].key_env
    return _live(name, config, settings.secret(variable) if variable else "", settings)


def make_parser(name: str, settings: Settings) -> Engine:
    """The engine called `name` to read its payloads only: it needs neither key nor documents."""
    if name == corpus.NAME:
        return CorpusEngine([], settings.evidence_per_question)
    if name == recorded.NAME:
        return RecordedEngine()
    return _live(name, _config(name, settings), "", settings)


def _live(name: str, config: EngineConfig, key: str, settings: Settings) -> LiveEngine:
    adapter = ADAPTERS[config.type]
    return LiveEngine(name, config, adapter, key, allow_private=settings.allow_private)


def _config(name: str, settings: Settings) -> EngineConfig:
    engines = read_engines(settings.engines_toml)
    if name not in engines:
        known = ", ".join([*engines, corpus.NAME, recorded.NAME])
        raise UserError(f"no search engine {name!r}: known are {known}")
    return engines[name]
