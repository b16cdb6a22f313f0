"""Systems under test and the endpoints they ask, read from systems.toml."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import pydantic

from fresh_assets.answers.evidence import EvidenceOptions
from fresh_assets.errors import UserError

LOCAL = "local"
"""Address of the packaged local server, which is started when a system needs it."""
REPEAT = "/repeat-"
"""Before the number of a repeated sample in the name of a system."""
PRESETS = {
    "gpt-4": {"organic": 15, "related": 3, "questions_and_answers": 3, "kept": 15},
    "other": {"organic": 15, "related": 2, "questions_and_answers": 2, "kept": 5},
}
"""Evidence budgets of the upstream notebook, by model."""


class EndpointConfig(pydantic.BaseModel):
    """An OpenAI-compatible endpoint. `api_key_env`: environment variable that holds its key."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    url: str
    api_key_env: str | None = None
    most_at_once: int = pydantic.Field(32, ge=1)
    requests_per_minute: float | None = pydantic.Field(None, gt=0)
    tokens_per_minute: float | None = pydantic.Field(None, gt=0)
    timeout: float = pydantic.Field(120, gt=0)
    tries: int = pydantic.Field(6, ge=1)


class BaseSystem(pydantic.BaseModel):
    """What every system has. `engine`: whose evidence it reads where a week has several;
    `knowledge_cutoff`: last day the model knows of, for the slice of answers changed since."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    name: str = pydantic.Field(pattern=r"^[A-Za-z0-9][\w./-]*$")
    engine: str | None = None
    knowledge_cutoff: date | None = None

    @property
    def hash(self) -> str:
        """Hash of what decides the answers."""
        options = self.model_dump_json(exclude={"knowledge_cutoff"})
        return hashlib.sha256(options.encode()).hexdigest()[:16]

    @property
    def options(self) -> str:
        """All options but name and method, as JSON."""
        return json.dumps(
            self.model_dump(exclude={"name", "method", "knowledge_cutoff"}), sort_keys=True
        )


class SearchAnswer(BaseSystem):
    """The answer box, else the top snippet."""

    method: Literal["search_answer"] = "search_answer"


class Recorded(BaseSystem):
    """Answers imported from files."""

    method: Literal["recorded"] = "recorded"


class Asking(BaseSystem):
    """A system that asks a model.

    `reasoning`: the model takes max_completion_tokens and no temperature. `prompt_tokens`: longest
    prompt; evidence is dropped to fit. `at_most`: ask so many TEST questions only, the rest is
    deferred (to try out a slow model). `repeat`: number of a repeated sample; `repeats = k` in the
    file makes k systems of one. `batch`: through the provider's batch API, for methods of one step.
    """

    method: str
    endpoint: str
    model: str
    max_tokens: int = pydantic.Field(256, ge=1)
    temperature: float = pydantic.Field(0, ge=0)
    seed: int | None = None
    reasoning: bool = False
    prompt_tokens: int | None = pydantic.Field(None, ge=100)
    at_most: int | None = pydantic.Field(None, ge=1)
    repeat: int = pydantic.Field(0, ge=0)
    batch: bool = False


class ClosedBook(Asking):
    """The question alone."""

    method: Literal["closed_book"] = "closed_book"
    premise_check: bool = False


class FewShot(Asking):
    """Demonstrations without evidence."""

    method: Literal["few_shot", "chain_of_thought"] = "few_shot"
    demonstrations: int = pydantic.Field(5, ge=0, le=15)


class FreshPrompt(Asking):
    """Demonstrations and the question, each with its evidence. `preset`: a notebook's budgets.

    `decomposed` first asks for sub-queries and merges what they find.
    """

    method: Literal["freshprompt", "decomposed"] = "freshprompt"
    preset: Literal["gpt-4", "other"] | None = None
    evidence: EvidenceOptions = EvidenceOptions()
    demonstrations: int = pydantic.Field(5, ge=0, le=15)
    long_answers: bool = False
    premise_check: bool = False

    @pydantic.model_validator(mode="before")
    @classmethod
    def _with_preset(cls, options: Any) -> Any:
        preset = PRESETS.get(options.get("preset") or "", {})
        return {**options, "evidence": {**preset, **options.get("evidence", {})}}


class SelfAsk(Asking):
    """Follow-up questions, answered by search, until the model knows enough."""

    method: Literal["self_ask"] = "self_ask"
    follow_ups: int = pydantic.Field(3, ge=1, le=10)


class Judge(Asking):
    """A model that rates answers. `structured`: ask for JSON by schema; `reasks`: tries again when
    the reply holds no verdict."""

    method: Literal["fresheval"] = "fresheval"
    modes: tuple[Literal["relaxed", "strict"], ...] = ("relaxed", "strict")
    structured: bool = False
    reasks: int = pydantic.Field(2, ge=0, le=10)


AnySystem = SearchAnswer | Recorded | ClosedBook | FewShot | FreshPrompt | SelfAsk
_SYSTEM: pydantic.TypeAdapter[AnySystem] = pydantic.TypeAdapter(
    Annotated[AnySystem, pydantic.Field(discriminator="method")]
)


@dataclass(frozen=True)
class Systems:
    """The content of systems.toml."""

    endpoints: Mapping[str, EndpointConfig]
    systems: Mapping[str, AnySystem]
    judges: Mapping[str, Judge]

    def find(self, name: str) -> AnySystem:
        """The configured system, or a recorded one for a name that is not configured."""
        return self.systems.get(name) or recorded_system(name)


def read_systems(text: str) -> Systems:
    """Parse the text of systems.toml; UserError names the table and the option that is wrong."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"systems.toml: {error}") from error
    unknown = sorted(set(tables) - {"endpoints", "judges", "systems"})
    if unknown:
        raise UserError(f"systems.toml: [{unknown[0]}] should be [systems.{unknown[0]}]")
    endpoints = {
        name: _checked(f"endpoints.{name}", EndpointConfig.model_validate, options)
        for name, options in tables.get("endpoints", {}).items()
    }
    systems = {
        system.name: system
        for name, options in tables.get("systems", {}).items()
        for system in _checked(f"systems.{name}", lambda o, n=name: _repeated(n, o), options)
    }
    judges = {
        name: _checked(f"judges.{name}", lambda o, n=name: Judge(name=n, **o), options)
        for name, options in tables.get("judges", {}).items()
    }
    for name, system in (*systems.items(), *judges.items()):
        if isinstance(system, Asking) and system.endpoint not in {*endpoints, LOCAL}:
            known = ", ".join([*endpoints, LOCAL])
            raise UserError(f"systems.toml, {name}: no endpoint {system.endpoint!r}, only {known}")
    return Systems(endpoints, systems, judges)


def recorded_system(name: str) -> Recorded:
    """A system whose answers are imported; UserError if it may not be called so."""
    try:
        return Recorded(name=name)
    except pydantic.ValidationError as error:
        raise UserError(
            f"{name!r} is no system name: use letters, digits and . _ - / only"
        ) from error


def _repeated(name: str, options: dict[str, Any]) -> list[AnySystem]:
    """The system, and as many further samples of it as `repeats` asks for."""
    repeats = pydantic.TypeAdapter(Annotated[int, pydantic.Field(ge=1, le=100)]).validate_python(
        options.pop("repeats", 1)
    )
    first = _SYSTEM.validate_python({"name": name, **options})
    if repeats > 1 and not isinstance(first, Asking):
        raise UserError(
            f"systems.toml, [systems.{name}], repeats: only for systems that ask a model"
        )
    return [first] + [
        _SYSTEM.validate_python({**options, "name": f"{name}{REPEAT}{n}", "repeat": n - 1})
        for n in range(2, repeats + 1)
    ]


def _checked(table: str, validate: Any, options: object) -> Any:
    if not isinstance(options, dict):
        raise UserError(f"systems.toml: {table} is no table; write [{table}] above its options")
    if "name" in options:
        raise UserError(f"systems.toml, [{table}], name: the name stands in the brackets")
    try:
        return validate(options)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        option = ".".join(str(part) for part in first["loc"]) or "method"
        raise UserError(f"systems.toml, [{table}], {option}: {first['msg']}") from error
