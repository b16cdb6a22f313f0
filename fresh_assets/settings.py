"""Settings from the environment (`FRESH_ASSETS_*`). Nothing else reads the environment."""

import importlib.resources
import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from fresh_assets.errors import UserError


class Settings(BaseSettings):
    """Where run outputs live and the thresholds of checks. Building it touches no file."""

    model_config = SettingsConfigDict(env_prefix="FRESH_ASSETS_", extra="ignore", frozen=True)

    home: Annotated[Path, Field(description="folder of all run outputs")] = Path("data")
    systems_file: Annotated[Path | None, Field(description="systems under test (TOML)")] = None
    upstream: Annotated[
        str, Field(description="version index: README (path or URL) or history CSV")
    ] = ""
    upstream_interval: Annotated[
        int, Field(ge=5, description="seconds between two looks of the sensor at the index")
    ] = 3600
    sheets: Annotated[str, Field(description="server of the upstream sheets")] = (
        "https://docs.google.com"
    )
    engine: Annotated[
        str,
        Field(
            description="search engines of new snapshots, with commas; default: corpus where the "
            "home has one, else wikipedia"
        ),
    ] = ""
    engines_file: Annotated[Path | None, Field(description="search engines (TOML)")] = None
    max_unsearched: Annotated[
        float, Field(ge=0, le=1, description="share of unsearched questions that a week may have")
    ] = 0
    allow_private: Annotated[
        bool, Field(description="let redirects lead to machines in a private network")
    ] = False
    evidence_per_question: Annotated[int, Field(ge=1, le=100)] = 10
    lock_timeout: Annotated[float, Field(gt=0, description="seconds to wait for the writer")] = 120
    keep_snapshots: Annotated[int, Field(ge=1, description="published files to keep")] = 8
    max_unrated: Annotated[
        float, Field(ge=0, le=1, description="share of unrated answers that blocks publishing")
    ] = 0.5

    max_stale: Annotated[
        float, Field(ge=0, le=1, description="share of probably stale answers that is warned of")
    ] = 0.2
    max_refusal_jump: Annotated[
        float, Field(ge=0, le=1, description="change of the share of refusals that is warned of")
    ] = 0.1
    max_judge_drift: Annotated[
        float, Field(ge=0, le=1, description="share of golden ratings that may change in a week")
    ] = 0.05

    local_model: Annotated[
        Path | None, Field(description="GGUF file of the local model; default: the packaged one")
    ] = None
    prices_file: Annotated[Path | None, Field(description="prices of models (TOML)")] = None
    budget: Annotated[
        float | None, Field(gt=0, description="dollars that one run of a system may cost")
    ] = None

    encoder: Annotated[
        str,
        Field(
            description="encoder of steps and tables: packaged-minilm, packaged-mpnet, a folder, "
            "a hub name"
        ),
    ] = "packaged-minilm"
    exact_up_to: Annotated[
        int, Field(ge=1, description="entries above which an index is a graph, not exact")
    ] = 200_000

    automation: Annotated[
        bool, Field(description="run schedules and sensors without switching them on by hand")
    ] = False
    automation_interval: Annotated[
        int, Field(ge=5, description="seconds between two looks at what automation has to run")
    ] = 30
    stale_after_days: Annotated[
        int, Field(ge=1, description="days without a successful refresh that are told as an alert")
    ] = 8
    alert_webhooks: Annotated[
        dict[str, SecretStr],
        Field(description="JSON of owner to webhook URL; the owner * gets all others"),
    ] = {}
    alert_email_from: str = ""
    alert_email_to: Annotated[list[str], Field(description="JSON list of addresses")] = []
    alert_email_password: SecretStr | None = None
    smtp_host: str = ""
    smtp_port: int | None = None
    smtp_type: Literal["SSL", "STARTTLS"] = "SSL"

    @property
    def upstream_index(self) -> str:
        """Where the version index is read from; the demo world writes its own into the home."""
        return self.upstream or str(self.home / "upstream" / "README.md")

    @property
    def index_file(self) -> Path:
        """Imported list of versions that the upstream list no longer has."""
        return self.home / "upstream" / "index.csv"

    @property
    def has_index(self) -> bool:
        """Whether there is any list of versions to read."""
        files = (Path(self.upstream_index), self.index_file)
        return bool(self.upstream) or any(file.exists() for file in files)

    @property
    def warehouse_file(self) -> Path:
        """The live DuckDB file: only the platform opens it."""
        return self.home / "warehouse.duckdb"

    @property
    def archive_file(self) -> Path:
        """Raw imports and search payloads (SQLite)."""
        return self.home / "archive.sqlite"

    @property
    def calls_file(self) -> Path:
        """Cache of all model calls (SQLite)."""
        return self.home / "calls.sqlite"

    @property
    def batches_file(self) -> Path:
        """Provider batches that are under way (SQLite)."""
        return self.home / "batches.sqlite"

    @property
    def judge_key_file(self) -> Path:
        """Secret behind the marks around responses in judge prompts; made on first use."""
        return self.home / "judge.key"

    @property
    def local_server_file(self) -> Path:
        """Where a local model server that was started by hand can be reached."""
        return self.home / "local-llm.json"

    @property
    def corpus_file(self) -> Path:
        """Dated documents of the local search engine (JSON lines)."""
        return self.home / "corpus.jsonl"

    @property
    def vectors_file(self) -> Path:
        """Vectors of all texts that were encoded (SQLite)."""
        return self.home / "vectors.sqlite"

    @property
    def indexes(self) -> Path:
        """Folder of the FAISS indexes, one below it for each catalog."""
        return self.home / "indexes"

    @property
    def training(self) -> Path:
        """Trainings under way, with their checkpoints."""
        return self.home / "training"

    @property
    def encoder_folder(self) -> Path:
        """The fine-tuned encoder, with its model card."""
        return self.home / "encoder"

    @property
    def published(self) -> Path:
        """Folder of the read-only files for analysts."""
        return self.home / "published"

    @property
    def dagster_home(self) -> Path:
        """Dagster's own run and event storage."""
        return self.home / "dagster"

    @property
    def systems_toml(self) -> str:
        """Text of the systems file: the configured one, else the one shipped with the package."""
        return _text(self.systems_file, "systems.toml")

    @property
    def engines_toml(self) -> str:
        """Text of the engines file: the configured one, else the one shipped with the package."""
        return _text(self.engines_file, "engines.toml")

    @property
    def engines(self) -> list[str]:
        """Names of the search engines of new snapshots."""
        chosen = [name.strip() for name in self.engine.split(",") if name.strip()]
        return chosen or ["corpus" if self.corpus_file.exists() else "wikipedia"]

    @property
    def prices_toml(self) -> str:
        """Text of the price table: the configured one, else the one shipped with the package."""
        return _text(self.prices_file, "prices.toml")

    def secret(self, variable: str) -> str:
        """Value of the environment variable that holds a key; UserError if it is not set."""
        value = os.environ.get(variable)
        if not value:
            raise UserError(f"the environment variable {variable} is not set; it holds the API key")
        return value


def _text(configured: Path | None, shipped: str) -> str:
    if configured is None:
        return (importlib.resources.files("fresh_assets.data") / shipped).read_text(
            encoding="utf-8"
        )
    try:
        return configured.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{configured} could not be read: {error}") from error
