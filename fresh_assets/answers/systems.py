"""Systems under test, read from systems.toml."""

import hashlib
import tomllib
from typing import Literal

import pydantic

from fresh_assets.errors import UserError

RECORDED = "recorded"


class System(pydantic.BaseModel):
    """How one system is asked; `engine` names whose evidence it reads where a week has several."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    name: str = pydantic.Field(pattern=r"^[A-Za-z0-9][\w./-]*$")
    method: Literal["search_answer", "recorded"]
    engine: str | None = None

    @property
    def hash(self) -> str:
        """Hash of the configuration."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]


def read_systems(text: str) -> dict[str, System]:
    """Parse the text of systems.toml; UserError names the system and the option that is wrong."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"systems.toml: {error}") from error
    return {name: _system(name, options) for name, options in tables.items()}


def _system(name: str, options: object) -> System:
    if not isinstance(options, dict):
        raise UserError(f"systems.toml: {name} is no table; write [{name}] above its options")
    try:
        return System(name=name, **options)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        option = ".".join(map(str, first["loc"])) or "name"
        raise UserError(f"systems.toml, [{name}], {option}: {first['msg']}") from error


def find_system(systems: dict[str, System], name: str) -> System:
    """The configured system, or a recorded one for a name that is not configured."""
    return systems.get(name) or recorded_system(name)


def recorded_system(name: str) -> System:
    """A system whose answers are imported; UserError if it may not be called so."""
    try:
        return System(name=name, method=RECORDED)
    except pydantic.ValidationError as error:
        raise UserError(
            f"{name!r} is no system name: use letters, digits and . _ - / only"
        ) from error
