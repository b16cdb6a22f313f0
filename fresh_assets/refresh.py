"""The weekly refresh by hand: every asset in order, only what changed, on Dagster's own runs.

Also the imports that feed it, so that the UI shows them as events of their tables.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from fresh_assets.answers import imports as answer_imports
from fresh_assets.answers.answering import (
    IN_BATCH,
    WAITING,
    estimate_systems,
    finished_batches,
    read_week,
)
from fresh_assets.answers.systems import AnySystem, Judge, read_systems, recorded_system
from fresh_assets.benchmark.imports import Imported, Source, import_version
from fresh_assets.benchmark.upstream import (
    Listed,
    fetch_sheets,
    imported_versions,
    listed_versions,
    read_index,
    source_of,
)
from fresh_assets.benchmark.version_index import as_frame
from fresh_assets.catalog.changes import check_catalog
from fresh_assets.catalog.indexing import entries_of
from fresh_assets.definitions import ROOMS, build_defs, graph_of
from fresh_assets.errors import UserError
from fresh_assets.judging import lexical, people
from fresh_assets.judging.rating import judge_hash
from fresh_assets.partitions import catalogs, check_week, monday, systems, this_week, versions
from fresh_assets.retriever.requests import TABLE as REQUESTS_TABLE
from fresh_assets.retriever.requests import as_frame as requests_frame
from fresh_assets.retriever.requests import most_frequent_steps, read_requests
from fresh_assets.search.snapshot import (
    complete_searches,
    engines_to_search,
    import_recorded,
    tolerance,
)
from fresh_assets.settings import Settings
from fresh_assets.staleness.review import TABLE as DECISIONS_TABLE
from fresh_assets.staleness.review import Decision, decide
from fresh_assets.warehouse.archive import Archive, sha256
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.lineage import is_up_to_date, pinned_version, version_of_week
from fresh_assets.warehouse.publish import is_published
from fresh_assets.warehouse.slices import content_hash, slice_name, write_slice
from fresh_assets.web.fetch import FetchError

DAGSTER_YAML = """\
telemetry: {enabled: false}
nux: {enabled: false}
run_monitoring: {enabled: true, free_slots_after_run_end_seconds: 300}
concurrency:
  runs: {max_concurrent_runs: 2}
"""
WEEKLY = [
    "mart/accuracy",
    "mart/comparisons",
    "mart/judge_agreement",
    "mart/corrected_accuracy",
    "mart/staleness_model",
    "mart/stale_answers",
    "eval/golden_ratings",
]
"""What follows from the answers and ratings of a week."""
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class RefreshError(UserError):
    """A step failed; what was finished before it stays."""


class BlockedError(RefreshError):
    """A blocking check failed; nothing that depends on it was done."""


@dataclass(frozen=True)
class Step:
    """One run of the refresh."""

    assets: tuple[str, ...]
    partition: str | None
    seconds: float
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Synced:
    """What a look at upstream brought."""

    imported: tuple[date, ...] = ()
    unchanged: int = 0
    failed: tuple[str, ...] = ()
    gone: tuple[Listed, ...] = ()


def prepare_dagster_home(settings: Settings) -> Path:
    """Return Dagster's home, made on first use."""
    home = settings.dagster_home.resolve()
    home.mkdir(parents=True, exist_ok=True)
    config = home / "dagster.yaml"
    if not config.exists():
        config.write_text(DAGSTER_YAML, encoding="utf-8")
    return home


class Platform:
    """One home: its warehouse, archive and Dagster instance."""

    def __init__(self, settings: Settings, instance: dg.DagsterInstance | None = None) -> None:
        self.settings = settings
        self.instance = instance or dg.DagsterInstance.from_config(
            str(prepare_dagster_home(settings))
        )
        self.warehouse = Warehouse(settings.warehouse_file, settings.lock_timeout)
        self.archive = Archive(settings.archive_file)
        self._defs = build_defs(settings)
        self._graph = graph_of(asset for assets in ROOMS.values() for asset in assets)

    def import_version(self, content: bytes, source: Source) -> Imported:
        """Record a version file and register its partition."""
        imported = import_version(self.warehouse, self.archive, content, source)
        key = source.version.isoformat()
        self._add_partitions(versions, [key])
        if imported.is_new:
            metadata = {"revision": imported.revision, "file": source.file_name}
            self._report(["freshqa", "revisions"], key, metadata)
        return imported

    def sync(self, recheck: int, report: Callable[[str], None]) -> Synced:
        """Import every listed version that is not here, and look at the newest `recheck` again.

        Sheets are fetched side by side and imported in the order of their dates, each in one
        commit: what was imported before an interruption stays.
        """
        self._refresh_index(report)
        with self.warehouse.reader() as con:
            have, listed = imported_versions(con), listed_versions(con)
        gone = tuple(entry for entry in listed if entry.overwritten_by)
        there = [entry for entry in listed if not entry.overwritten_by]
        again = {entry.version for entry in there[max(0, len(there) - recheck) :]}
        wanted = [e for e in there if e.version not in have or e.version in again]
        synced = Synced(gone=gone)
        for entry, content in fetch_sheets(self.settings, wanted):
            synced = self._import_fetched(entry, content, synced, report)
        self._refresh_questions(report)
        return synced

    def _import_fetched(
        self,
        entry: Listed,
        content: Future[bytes],
        synced: Synced,
        report: Callable[[str], None],
    ) -> Synced:
        report(f"Importing version {entry.version}")
        try:
            imported = self.import_version(content.result(), source_of(entry))
        except UserError as error:
            return replace(synced, failed=(*synced.failed, str(error)))
        if not imported.is_new:
            return replace(synced, unchanged=synced.unchanged + 1)
        return replace(synced, imported=(*synced.imported, entry.version))

    def import_snapshot(
        self,
        content: bytes,
        file_name: str,
        week: date,
        version: date,
        as_of: date | None,
        *,
        replace: bool = False,
    ) -> int:
        """Archive saved search results as the snapshot of `week`; return how many were new.

        Other results that the week holds are kept unless `replace`: then the file takes the place
        of all of them, and the archive keeps their payloads.
        """
        self.refresh_benchmark(lambda _: None)
        with self.warehouse.reader() as con:
            matched = import_recorded(con, content, file_name, version)
        self.archive.put(content)
        searches = [
            (key, query, as_of or response.as_of or week, response.payload)
            for key, query, response in matched
        ]
        if not replace:
            self._refuse_other_results(week, version, {key: p for key, _, _, p in searches})
        return self.archive.put_searches(week, "recorded", version, searches, replace=replace)

    def _refuse_other_results(
        self, week: date, version: date, payloads: Mapping[str, bytes]
    ) -> None:
        held = [s for s in self.archive.searches(week) if s.engine == "recorded"]
        other = [
            s
            for s in held
            if s.version != version
            or (s.question_key in payloads and s.payload_hash != sha256(payloads[s.question_key]))
        ]
        if other:
            raise UserError(
                f"week {week} holds {len(other)} other results (version {other[0].version}); "
                "import with --replace to put these in their place"
            )

    def import_answers(
        self,
        content: bytes,
        file_name: str,
        week: date,
        system: str,
        columns: answer_imports.Columns = answer_imports.BY_NAME,
    ) -> int:
        """Record answers given elsewhere, replacing earlier ones of that system and week."""
        self.refresh_benchmark(lambda _: None)
        recorded_system(system)
        configured = read_systems(self.settings.systems_toml).systems.get(system)
        if configured is not None and configured.method != "recorded":
            raise UserError(
                f"{system} is configured in systems.toml and answers by itself: choose another name"
            )
        with self.warehouse.reader() as con:
            version = pinned_version(con, week)
            rows = answer_imports.match_answers(con, content, file_name, version, columns)
        self.archive.put(content)
        key = {"week": week.isoformat(), "system": system}
        write_slice(self.warehouse, answer_imports.TABLE, key, rows)
        self._add_partitions(systems, [system])
        partition = dg.MultiPartitionKey(key)
        self._report(
            ["eval", "recorded_answers"], partition, {"file": file_name, "answers": len(rows)}
        )
        return len(rows)

    def import_ratings(self, content: bytes, file_name: str, week: date, rater: str) -> int:
        """Record what a person said of answers, replacing what that person said of the week."""
        with self.warehouse.reader() as con:
            items = people.read_items(con, week)
            rows = people.read_sheet(content, file_name, rater, week, items)
        self.archive.put(content)
        self.add_ratings(week, rater, rows, replace=True)
        return len(rows)

    def import_rated_answers(
        self,
        content: bytes,
        file_name: str,
        rater: str,
        answers: people.RatedAnswers,
    ) -> int:
        """Record ratings of one system's answers, made elsewhere, beside others of the rater."""
        with self.warehouse.reader() as con:
            rows = people.match_ratings(con, content, file_name, rater, answers)
        self.archive.put(content)
        self.add_ratings(answers.week, rater, rows)
        return len(rows)

    def add_ratings(
        self, week: date, rater: str, rows: pl.DataFrame, *, replace: bool = False
    ) -> None:
        """Record rows of eval.human_ratings beside those of the week, or in place of all that the
        rater said of it."""
        item = ["system", "question_key", "mode"]
        with self.warehouse.reader() as con:
            held = con.execute(f"SELECT * FROM {people.TABLE} WHERE week = ?", [week]).pl()
        others = held.filter(pl.col("rater") != rater)
        if not replace:
            own = held.filter(pl.col("rater") == rater).join(rows, on=item, how="anti")
            others = pl.concat([others, own])
        together = pl.concat([others, rows.select(held.columns).cast(held.schema)])
        write_slice(self.warehouse, people.TABLE, {"week": week.isoformat()}, together)
        metadata = {"rater": rater, "ratings": len(rows)}
        self._report(["eval", "human_ratings"], week.isoformat(), metadata)

    def import_catalog(self, key: str, files: Mapping[str, tuple[bytes, str]]) -> dict[str, int]:
        """Record the steps and tables of a catalog; `files`: steps and tables to (content, name).

        What is not given stays as it is. Returns the number of entries of each.
        """
        check_catalog(key)
        read = {
            what: entries_of(content, file_name, what)
            for what, (content, file_name) in files.items()
        }
        for what, rows in read.items():
            self.archive.put(files[what][0])
            write_slice(self.warehouse, f"catalog.{what}", {"catalog": key}, rows)
        self._add_partitions(catalogs, [key])
        for what, rows in read.items():
            self._report(["catalog", what], key, {"entries": len(rows)})
        return {what: len(rows) for what, rows in read.items()}

    def import_requests(
        self, key: str, content: bytes, file_name: str, common: int | None = None
    ) -> int:
        """Record requests with gold workflows in place of those of the catalog; how many.

        `common`: from now on the catalog's common steps are that many, the most frequent in train.
        """
        read = read_requests(content, file_name)
        with self.warehouse.reader() as con:
            known = con.sql("SELECT catalog FROM catalog.catalogs ORDER BY 1").fetchall()
        if (key,) not in known:
            named = ", ".join(k for (k,) in known) or "none"
            raise UserError(f"catalog {key} is not imported; known are {named}")
        self.archive.put(content)
        rows = requests_frame(read).with_columns(
            file_name=pl.lit(file_name), byte_hash=pl.lit(sha256(content))
        )
        write_slice(self.warehouse, REQUESTS_TABLE, {"catalog": key}, rows)
        if common is not None:
            self._mark_common(key, most_frequent_steps(read, common))
        self._report(["workflow", "requests"], key, {"requests": len(read)})
        return len(read)

    def _mark_common(self, key: str, names: list[str]) -> None:
        with self.warehouse.reader() as con:
            steps = con.execute("SELECT * FROM catalog.steps WHERE catalog = ?", [key]).pl()
        marked = steps.with_columns(is_common=pl.col("name").is_in(names))
        write_slice(self.warehouse, "catalog.steps", {"catalog": key}, marked)
        self._report(["catalog", "steps"], key, {"common": ", ".join(names)})

    def train_encoder(self, report: Callable[[str], None], **options: Any) -> Step:
        """Fine-tune the encoder on the pairs; `options`: fields of retriever.assets.Training."""
        with self.warehouse.reader() as con:
            has_pairs = con.sql("SELECT 1 FROM retriever.pairs WHERE place > 0 LIMIT 1").fetchall()
        if not has_pairs:
            raise UserError("there are no training pairs: `fresh-assets import-requests`, refresh")
        config = {"ops": {"retriever__encoder": {"config": options}}}
        return self._run(["retriever/encoder"], None, report, config)

    def refresh_catalogs(self, report: Callable[[str], None]) -> list[Step]:
        """Bring changes, indexes and recall of every imported catalog up to date."""
        with self.warehouse.reader() as con:
            known = con.sql("SELECT catalog FROM catalog.catalogs ORDER BY 1").fetchall()
            other = con.execute(
                "SELECT DISTINCT catalog FROM catalog.indexes WHERE encoder <> ?",
                [self.settings.encoder],
            ).fetchall()
            asked = con.execute(f"SELECT DISTINCT catalog FROM {REQUESTS_TABLE}").fetchall()
        steps = []
        for (key,) in known:
            assets = ["catalog/changes", "catalog/indexes"]
            assets += ["mart/retriever_recall"] if (key,) in asked else []
            tables = [asset.replace("/", ".") for asset in assets]
            if (key,) in other or self._is_stale(tables, {"catalog": key}):
                steps.append(self._run(assets, key, report))
        if asked and self._is_stale(["retriever.pairs"], {}):
            steps.append(self._run(["retriever/pairs"], None, report))
        return steps

    def decide(self, week: date, made: Decision) -> None:
        """Record what a reviewer decided about a ground truth; the next refresh acts on it."""
        with self.warehouse.reader() as con:
            rows = decide(con, week, made)
        write_slice(self.warehouse, DECISIONS_TABLE, {}, rows)
        metadata = {"decisions": len(rows), "last": f"{made.decision} by {made.reviewer}"}
        self._report(["freshqa", "decisions"], None, metadata)

    def forget_answers(self, week: date, system: str) -> int:
        """Remove a system from a week, with its answers and ratings; return how many answers."""
        slice_ = slice_name({"week": week.isoformat(), "system": system})
        with self.warehouse.writer() as con:
            con.execute("BEGIN")
            removed = {}
            for name in (answer_imports.TABLE, "eval.judgements", "eval.answers"):
                removed[name] = con.execute(
                    f"DELETE FROM {name} WHERE week = ? AND system = ? RETURNING 1", [week, system]
                ).fetchall()
                con.execute(
                    "DELETE FROM meta.slices WHERE table_name = ? AND slice = ?", [name, slice_]
                )
            con.execute("COMMIT")
        return len(removed["eval.answers"])

    def default_week(self) -> date:
        """The running week; in the demo world its last one."""
        with self.warehouse.reader() as con:
            newest = con.execute(
                "SELECT max(version) FROM freshqa.revisions WHERE origin = 'demo'"
            ).fetchall()[0][0]
        return monday(newest) if newest else this_week()

    def refresh(self, week: date, only: Iterable[str], report: Callable[[str], None]) -> list[Step]:
        """Bring every asset of `week` up to date; `only` names systems (default: all).

        A system that fails does not hold up the others: it is named by RefreshError at the end.
        While a blocking check fails nothing is published.
        """
        check_week(week)
        steps = self.refresh_catalogs(report) + self.refresh_benchmark(report)
        key = week.isoformat()
        assets = ["search/drift", "freshqa/ground_truth"]
        if self._snapshot_changed(week):
            assets = ["search/results", "search/evidence", *assets]
        else:
            assets = [a for a in assets if self._is_stale([a.replace("/", ".")], {"week": key})]
        if assets:
            steps.append(self._run(assets, key, report))
        failures = []
        by_batch = self._answered_by_batch(week)
        for system in self._systems(week, list(only)):
            slice_ = {"week": key, "system": system}
            stale = self._is_stale(["eval.answers", "eval.judgements"], slice_)
            if stale or system in by_batch:
                partition = dg.MultiPartitionKey(slice_)
                try:
                    steps.append(self._run(["eval/answers", "eval/judgements"], partition, report))
                except RefreshError as error:
                    failures.append(error)
        if self._is_stale([name.replace("/", ".") for name in WEEKLY], {"week": key}):
            steps.append(self._run(WEEKLY, key, report))
        blocked = any(isinstance(error, BlockedError) for error in failures)
        if not blocked and not is_published(self.warehouse, self.settings.published):
            steps.append(self._run(["publish/analyst_snapshot"], None, report))
        if failures:
            told = "; ".join(str(error) for error in failures)
            raise RefreshError(f"{told}; nothing was published" if blocked else told)
        return steps

    def estimate(self, week: date, report: Callable[[str], None]) -> list[tuple[str, ...]]:
        """(system, model, calls, input and output tokens, cost) of one-step systems, at most.

        Systems of several steps are counted with their first prompt once a step.
        """
        self.refresh_benchmark(report)
        read = read_systems(self.settings.systems_toml)
        inputs = read_week(self.warehouse, week, "")
        return estimate_systems(read, inputs, self.settings)

    def refresh_benchmark(self, report: Callable[[str], None]) -> list[Step]:
        """Bring the assets of FreshQA up to date for every imported version."""
        try:
            steps = self._refresh_index(report)
        except FetchError as error:
            report(f"The upstream list could not be read, going on without it: {error}")
            steps = []
        return steps + self._refresh_questions(report)

    def _refresh_index(self, report: Callable[[str], None]) -> list[Step]:
        if not self.settings.has_index:
            return []
        table = self.warehouse.declaration.tables["freshqa.version_index"]
        found = content_hash(table, as_frame(read_index(self.settings, self.archive)))
        if self._recorded_hashes(table.name).get("") == found:
            return []
        return [self._run(["freshqa/version_index"], None, report)]

    def _refresh_questions(self, report: Callable[[str], None]) -> list[Step]:
        with self.warehouse.reader() as con:
            imported = sorted(map(str, imported_versions(con)))
        self._add_partitions(versions, imported)
        steps = []
        for asset in ("questions", "question_links", "changes"):
            partitions = [None] if asset == "question_links" else imported
            steps += [
                self._run([f"freshqa/{asset}"], version, report)
                for version in partitions
                if imported
                and self._is_stale([f"freshqa.{asset}"], {"version": version} if version else {})
            ]
        if imported and self._is_stale(["freshqa.volatility", "freshqa.survival"], {}):
            steps.append(self._run(["freshqa/volatility", "freshqa/survival"], None, report))
        return steps

    def _snapshot_changed(self, week: date) -> bool:
        key = {"week": week.isoformat()}
        if self._is_stale(["search.results", "search.evidence"], key):
            return True
        today = datetime.now(UTC).date()
        searches = self.archive.searches(week)
        with self.warehouse.reader() as con:
            version = version_of_week(con, week)
            rows = con.execute(
                "SELECT engine, question_key, payload_hash FROM search.results WHERE week = ?",
                [week],
            ).fetchall()
            questions = con.execute(
                "SELECT question_key FROM freshqa.current_questions WHERE version = ?", [version]
            ).fetchall()
        if set(engines_to_search(self.settings, searches, week, today)) - {e for e, _, _ in rows}:
            return True
        allowed = tolerance(self.settings, week, today)
        kept = complete_searches(searches, [key for (key,) in questions], allowed)
        return set(rows) != {(s.engine, s.question_key, s.payload_hash) for s in kept}

    def _systems(self, week: date, only: list[str]) -> list[str]:
        read = read_systems(self.settings.systems_toml)
        configured = read.systems
        with self.warehouse.reader() as con:
            rows = con.execute(
                "SELECT DISTINCT system FROM eval.recorded_answers WHERE week = ? ORDER BY 1",
                [week],
            ).fetchall()
        known = list(dict.fromkeys([*configured, *(system for (system,) in rows)]))
        self._add_partitions(systems, known)
        self._record_systems(configured)
        self._record_judges(read.judges)
        unknown = [name for name in only if name not in known]
        if unknown:
            raise UserError(
                f"no system {unknown[0]!r} in week {week}: known are {', '.join(known)}"
            )
        return only or known

    def _record_systems(self, configured: Mapping[str, AnySystem]) -> None:
        for name, system in configured.items():
            row = {
                "system": name,
                "method": system.method,
                "options": system.options,
                "system_hash": system.hash,
                "knowledge_cutoff": system.knowledge_cutoff,
            }
            if self._record("eval.systems", {"system": name}, [row]):
                self._report(["eval", "systems"], name, {"hash": system.hash})

    def _record_judges(self, configured: Mapping[str, Judge]) -> None:
        rows = [{"judge": lexical.NAME, "options": "{}", "judge_hash": lexical.HASH}]
        rows += [
            {
                "judge": name,
                "options": judge.options,
                "judge_hash": "".join(judge_hash(judge, mode) for mode in judge.modes),
            }
            for name, judge in configured.items()
        ]
        if self._record("eval.judges", {}, rows):
            self._report(["eval", "judges"], None, {"judges": len(rows)})

    def _record(self, name: str, key: Mapping[str, str], rows: list[dict[str, Any]]) -> bool:
        """Write a slice of configuration unless it is there already."""
        table = self.warehouse.declaration.tables[name]
        dates = {c.name: pl.Date for c in table.columns if c.type == "DATE"}
        frame = pl.DataFrame(rows, schema_overrides=dates)
        if self._recorded_hashes(name).get(slice_name(key)) == content_hash(table, frame):
            return False
        write_slice(self.warehouse, name, key, frame)
        return True

    def _answered_by_batch(self, week: date) -> set[str]:
        """Systems of the week with answers in provider batches that have ended meanwhile."""
        with self.warehouse.reader() as con:
            waiting = {
                s
                for w, s in con.execute(WAITING, {"reason": IN_BATCH}).fetchall()
                if w == f"{week}"
            }
        read = read_systems(self.settings.systems_toml)
        return waiting & finished_batches(read, self.settings) if waiting else set()

    def _recorded_hashes(self, table: str) -> dict[str, str]:
        with self.warehouse.reader() as con:
            return dict(
                con.execute(
                    "SELECT slice, content_hash FROM meta.slices WHERE table_name = ?", [table]
                ).fetchall()
            )

    def _is_stale(self, tables: Iterable[str], key: Mapping[str, str]) -> bool:
        with self.warehouse.reader() as con:
            return not all(is_up_to_date(con, self._graph, table, key) for table in tables)

    def _add_partitions(self, definition: dg.DynamicPartitionsDefinition, keys: list[str]) -> None:
        name = str(definition.name)
        new = sorted(set(keys) - set(self.instance.get_dynamic_partitions(name)))
        if new:
            self.instance.add_dynamic_partitions(name, new)

    def _report(self, key: list[str], partition: str | None, metadata: Mapping[str, Any]) -> None:
        event = dg.AssetMaterialization(dg.AssetKey(key), partition=partition, metadata=metadata)
        self.instance.report_runless_asset_event(event)

    def _run(
        self,
        assets: list[str],
        partition: str | None,
        report: Callable[[str], None],
        config: Mapping[str, Any] | None = None,
    ) -> Step:
        name = " + ".join(assets) + (f" [{partition}]" if partition else "")
        report(name)
        started = time.monotonic()
        job = self._defs.resolve_implicit_global_asset_job_def()
        result = job.execute_in_process(
            instance=self.instance,
            asset_selection=[dg.AssetKey(asset.split("/")) for asset in assets],
            partition_key=partition,
            run_config={**QUIET, **(config or {})},
            raise_on_error=False,
        )
        checks = result.get_asset_check_evaluations()
        failed = [
            f"{c.asset_key.to_user_string()}, check {c.check_name}: {c.description}"
            for c in checks
            if not c.passed
        ]
        if not result.success:
            self._forget_inputs(assets, partition)
            error = _first_error(result)
            kind = RefreshError if error else BlockedError
            raise kind(f"{name} failed: {error or '; '.join(failed)}")
        return Step(tuple(assets), partition, time.monotonic() - started, tuple(failed))

    def _forget_inputs(self, assets: Iterable[str], partition: str | None) -> None:
        """Slices of a failed run count as stale, so that their checks are asked again."""
        key = getattr(partition, "keys_by_dimension", None)
        slice_ = "|".join((key["week"], key["system"])) if key else partition or ""
        with self.warehouse.writer() as con:
            con.execute(
                "UPDATE meta.slices SET inputs_hash = NULL "
                "WHERE slice = ? AND list_contains(?, table_name)",
                [slice_, [asset.replace("/", ".") for asset in assets]],
            )


def _first_error(result: dg.ExecuteInProcessResult) -> str | None:
    """What failed a step, as told to a person where it was; None if only checks failed."""
    for event in result.all_events:
        if event.is_step_failure:
            chain = []
            error = event.step_failure_data.error
            while error is not None:
                chain.append(error)
                error = error.cause
            told = [e for e in chain if e.cls_name in _user_errors(UserError)] or chain[-1:]
            if told and told[0].cls_name != "DagsterAssetCheckFailedError":
                message = told[0].message.strip()
                return message.partition(": ")[2] or message
    return None


def _user_errors(kind: type[UserError]) -> set[str]:
    names = {kind.__name__}
    for sub in kind.__subclasses__():
        names |= _user_errors(sub)
    return names
