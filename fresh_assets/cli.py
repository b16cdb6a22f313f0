"""What a person runs: `fresh-assets`. A mistake gets one line and exit code 1, no traceback."""

import csv
import importlib.metadata
import json
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import duckdb
import pydantic
import pydantic_settings
import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from fresh_assets.errors import UserError
from fresh_assets.scoring.accuracy import SINCE_CUTOFF, SLICES
from fresh_assets.settings import Settings
from fresh_assets.terminal import plain, printable
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.publish import latest, open_latest

if TYPE_CHECKING:
    from fresh_assets.refresh import Platform, Step

app = typer.Typer(
    help="Keep a benchmark of current facts alive.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
cache_app = typer.Typer(help="The cache of model calls.", no_args_is_help=True)
local_app = typer.Typer(help="The local model server.", no_args_is_help=True)
app.add_typer(cache_app, name="cache")
app.add_typer(local_app, name="local-llm")
out = Console()
err = Console(stderr=True)

FileArgument = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)]
Day = Annotated[datetime, typer.Option(formats=["%Y-%m-%d"])]
OptionalDay = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"])]
SkipUnknown = Annotated[
    bool, typer.Option("--skip-unknown", help="leave out questions that the version does not have")
]
DayArgument = Annotated[datetime, typer.Argument(formats=["%Y-%m-%d"])]


def main() -> None:
    """Run the command line."""
    try:
        app()
    except UserError as error:
        _fail(str(error))
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        name = f"FRESH_ASSETS_{'_'.join(map(str, first['loc']))}".upper()
        _fail(f"{name}: {first['msg']}")
    except pydantic_settings.SettingsError as error:
        _fail(f"{error}: JSON is expected there, see docs/runbook.md")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, sqlite3.Error, duckdb.Error) as error:
        _fail(f"{type(error).__name__}: {error}; `fresh-assets doctor` looks at the whole set-up")


def _fail(message: str) -> NoReturn:
    line = " ".join(message.split())
    err.print(f"[red]Error:[/red] {plain(line)}", highlight=False, soft_wrap=True)
    sys.exit(1)


@app.command()
def demo(
    questions: Annotated[int, typer.Option(min=30, help="size of the world")] = 120,
    seed: Annotated[int, typer.Option(help="another seed, another world")] = 7,
    requests: Annotated[
        float, typer.Option(min=0, max=1, help="share of the 600 requests for workflows")
    ] = 1,
) -> None:
    """Make the bundled fictional world and import it: versions, documents, answers, catalogs."""
    from fresh_assets.benchmark.imports import Source, refuse_other_origin
    from fresh_assets.demo.files import REFERENCES, make_demo, write_demo, write_deployments

    settings, platform = _platform()
    with _progress("Making the fictional world") as report:
        world = make_demo(questions, seed)
        refuse_other_origin(platform.warehouse, "demo")
        write_demo(world, settings.home)
        for day in world.days:
            report(f"Importing version {day}")
            file = settings.home / "demo" / "versions" / f"{day}.csv"
            platform.import_version(file.read_bytes(), Source(day, file.name, "demo"))
        for key, files in write_deployments(settings.home, requests).items():
            report(f"Importing catalog {key}")
            given = {w: (f.read_bytes(), f.name) for w, f in files.items() if w != "requests"}
            platform.import_catalog(key, given)
            file = files["requests"]
            platform.import_requests(key, file.read_bytes(), file.name)
        platform.refresh_benchmark(report)
        for system in REFERENCES:
            for day in world.days:
                report(f"Importing answers of {system}, week {day}")
                file = settings.home / "demo" / "answers" / system / f"{day}.csv"
                platform.import_answers(file.read_bytes(), file.name, day, system)
    out.print(
        f"{len(world.questions)} questions in {len(world.days)} versions are in {settings.home}"
    )


@app.command()
def refresh(
    week: OptionalDay = None,
    systems: Annotated[
        str, typer.Option(help="comma-separated names; default: all of the week")
    ] = "",
) -> None:
    """Bring a week up to date: benchmark, snapshot, answers, ratings, accuracy, published file."""
    settings, platform = _platform()
    chosen = _chosen(platform, week)
    only = [name.strip() for name in systems.split(",") if name.strip()]
    with _progress(f"Refreshing week {chosen}") as report:
        steps = platform.refresh(chosen, only, report)
    _print_steps(steps)
    _print_accuracy(settings, chosen)
    published = plain(str(latest(settings.published)))
    out.print(f"Published: {published}", soft_wrap=True, highlight=False)
    out.print('Query it: fresh-assets sql "FROM mart.accuracy"   See the lineage: make ui')


@app.command()
def sync(
    recheck: Annotated[
        int, typer.Option(min=0, help="look again at the newest N versions for later edits")
    ] = 0,
) -> None:
    """Import every version that upstream lists and that is not here yet."""
    settings, platform = _platform()
    if not (settings.upstream or settings.index_file.exists()):
        raise UserError(
            "no upstream list: set FRESH_ASSETS_UPSTREAM to the README of the benchmark (path or "
            "URL), or import a list with `fresh-assets import-index`"
        )
    with _progress("Reading the upstream list") as report:
        synced = platform.sync(recheck, report)
    for listed in synced.gone:
        out.print(
            f"[dim]{listed.version} is gone: {listed.overwritten_by} is in its sheet now[/dim]",
            highlight=False,
        )
    for failure in synced.failed:
        err.print(f"[yellow]{plain(failure)}[/yellow]", highlight=False, soft_wrap=True)
    first_last = f" ({synced.imported[0]} to {synced.imported[-1]})" if synced.imported else ""
    out.print(
        f"{len(synced.imported)} imported{first_last}, {synced.unchanged} unchanged, "
        f"{len(synced.failed)} failed",
        highlight=False,
    )
    if synced.failed:
        sys.exit(1)


@app.command()
def import_index(file: FileArgument) -> None:
    """Import a list of versions that upstream no longer lists (CSV: version_date, sheet_id,
    resourcekey)."""
    from fresh_assets.benchmark.upstream import keep_index

    number = keep_index(Settings(), file.read_bytes(), file.name)
    out.print(f"{number} versions are listed; import them: fresh-assets sync")


@app.command()
def import_version(
    file: FileArgument,
    date: Day,
    accept_damage: Annotated[
        bool, typer.Option(help="import although content was lost before; the cells are recorded")
    ] = False,
) -> None:
    """Import one FreshQA version (CSV, JSON or XLSX)."""
    from fresh_assets.benchmark.imports import Source

    _, platform = _platform()
    source = Source(date.date(), file.name, accept_damage=accept_damage)
    imported = platform.import_version(file.read_bytes(), source)
    rows, findings = len(imported.parsed.questions), len(imported.parsed.findings)
    if not imported.is_new:
        out.print(f"{source.version} has these rows already (revision {imported.revision})")
        return
    out.print(
        f"{source.version} revision {imported.revision}: {rows} questions, "
        f"{findings} irregular cells recorded"
    )


@app.command()
def import_snapshot(
    file: FileArgument,
    week: Day,
    version: Day,
    engine: Annotated[str, typer.Option(help="only saved SerpApi results: recorded")] = "recorded",
    as_of: OptionalDay = None,
    replace: Annotated[bool, typer.Option(help="in place of the results the week holds")] = False,
) -> None:
    """Import saved search results as the snapshot of a week."""
    from fresh_assets.partitions import check_week

    if engine != "recorded":
        raise UserError(
            f"engine {engine!r} cannot be imported; saved SerpApi results are `recorded`"
        )
    _, platform = _platform()
    with _progress("Bringing the benchmark up to date"):
        new = platform.import_snapshot(
            file.read_bytes(),
            file.name,
            check_week(week.date()),
            version.date(),
            as_of.date() if as_of else None,
            replace=replace,
        )
    out.print(f"week {week:%Y-%m-%d}: {new} searches archived")


@app.command()
def import_answers(
    file: FileArgument,
    system: Annotated[str, typer.Option(help="name of the system that gave them")],
    week: Day,
    column: Annotated[str | None, typer.Option(help="column of the answers")] = None,
    skip_unknown: SkipUnknown = False,
) -> None:
    """Import answers given elsewhere (CSV, JSON lines or XLSX), to be rated like any others."""
    from fresh_assets.answers.imports import Columns
    from fresh_assets.partitions import check_week

    _, platform = _platform()
    with _progress("Bringing the benchmark up to date"):
        number = platform.import_answers(
            file.read_bytes(),
            file.name,
            check_week(week.date()),
            system,
            Columns(column, skip_unknown),
        )
    out.print(
        f"{number} answers of {system} in week {week:%Y-%m-%d} recorded; "
        f"rate them: fresh-assets refresh --week {week:%Y-%m-%d}"
    )


@app.command()
def ask(
    question: str,
    system: Annotated[str, typer.Option(help="a system of systems.toml that asks a model")],
) -> None:
    """Ask a system one question now; shows the evidence it used and its citations."""
    from fresh_assets.asking_now import ask_now

    shown: list[str] = []

    def show(piece: str) -> None:
        shown.append(piece)
        out.print(plain(piece), end="", highlight=False, soft_wrap=True)

    response = ask_now(question, system, Settings(), show)
    outcome = response.outcome
    if shown:
        out.print()
    if outcome.state not in {"ok", "truncated"}:
        raise UserError(f"{system} gave no answer ({outcome.state}): {outcome.problem}")
    if not shown:
        out.print(plain(outcome.text.strip()), highlight=False)
    lines = [f"asked: {follow_up}" for follow_up in response.follow_ups]
    for piece in response.used:
        told = " ".join(filter(None, (piece.shown_date, piece.title, piece.url)))
        lines.append(f"evidence: {told}")
    lines += [f"cited: {citation}" for citation in outcome.citations]
    for line in lines:
        out.print(f"[dim]{plain(line)}[/dim]", soft_wrap=True, highlight=False)


@app.command()
def score(
    file: FileArgument,
    mode: Annotated[str, typer.Option(help="relaxed or strict")] = "relaxed",
    judge: Annotated[str, typer.Option(help="lexical, or a judge of systems.toml")] = "lexical",
    as_of: OptionalDay = None,
) -> None:
    """Rate the answers of a CSV or XLSX file; writes the ratings to a new file beside it."""
    from fresh_assets.answers.systems import read_systems
    from fresh_assets.judging.files import rate_file

    if mode not in {"relaxed", "strict"}:
        raise UserError(f"mode {mode!r}: use relaxed or strict")
    settings = Settings()
    today = (as_of or datetime.now()).date()  # noqa: DTZ005
    target = file.with_name(f"{file.stem}.{judge}.{mode}.csv")
    if target.exists():
        raise UserError(f"{target} exists; move it away first")
    with _progress(f"Rating with {judge}"):
        systems = read_systems(settings.systems_toml)
        rated = rate_file(file.read_bytes(), file.name, mode, judge, systems, settings, today)
    target.write_text(rated.text, encoding="utf-8")
    counts = ", ".join(f"{number} {rating}" for rating, number in rated.counts.items())
    out.print(f"{counts}: {plain(str(target))}", soft_wrap=True, highlight=False)


@app.command()
def rating_sheet(
    rater: Annotated[str, typer.Option(help="your name; another name, another order")],
    week: OptionalDay = None,
    answers: Annotated[int, typer.Option(min=2, help="half of them to false premises")] = 100,
) -> None:
    """Write a sheet of answers to be rated by a person, blind to the systems."""
    from fresh_assets.judging.people import read_items, sample, sheet

    _, platform = _platform()
    chosen = _chosen(platform, week)
    with platform.warehouse.reader() as con:
        items = sample(read_items(con, chosen), answers, chosen)
    target = Path(f"ratings-{chosen}-{re.sub(r'[^A-Za-z0-9_-]', '_', rater)}.csv")
    if target.exists():
        raise UserError(f"{target} exists; move it away first")
    target.write_text(sheet(items, rater), encoding="utf-8")
    back = f"fresh-assets import-ratings {target} --rater {plain(rater)} --week {chosen}"
    told = (
        f"{len(items)} answers are in {target}; write correct or incorrect under relaxed and strict"
    )
    out.print(f"{told}, then: {back}", soft_wrap=True, highlight=False)


@app.command()
def import_ratings(
    file: FileArgument,
    rater: Annotated[str, typer.Option(help="who rated")],
    week: Day,
    system: Annotated[
        str | None, typer.Option(help="the file rates this system's answers; default: a sheet")
    ] = None,
    mode: Annotated[str, typer.Option(help="relaxed or strict, with --system")] = "relaxed",
    column: Annotated[str, typer.Option(help="column of the ratings, with --system")] = "rating",
    skip_unknown: SkipUnknown = False,
) -> None:
    """Import a filled-in rating sheet, or with --system a file of questions and ratings made
    elsewhere (CSV or XLSX). Rows left blank are skipped."""
    from fresh_assets.answers.imports import Columns
    from fresh_assets.judging.people import RatedAnswers
    from fresh_assets.warehouse.lineage import pinned_version

    if mode not in {"relaxed", "strict"}:
        raise UserError(f"mode {mode!r}: use relaxed or strict")
    _, platform = _platform()
    day = week.date()
    if system:
        with platform.warehouse.reader() as con:
            version = pinned_version(con, day)
        columns = Columns(column, skip_unknown)
        answers = RatedAnswers(system, day, version, mode, columns)
        number = platform.import_rated_answers(file.read_bytes(), file.name, rater, answers)
    else:
        number = platform.import_ratings(file.read_bytes(), file.name, day, rater)
    out.print(f"{number} ratings of {plain(rater)} recorded; compare: fresh-assets refresh")


@app.command()
def rate(
    rater: Annotated[str, typer.Option(help="your name; another name, another order")],
    week: OptionalDay = None,
    answers: Annotated[int, typer.Option(min=2, help="half of them to false premises")] = 100,
) -> None:
    """Rate answers of a week in the terminal, blind to the systems, in both modes.

    Every rating is recorded at once; stop at any time and go on later.
    """
    from fresh_assets.walks import walk_answers

    _, platform = _platform()
    rated, left = walk_answers(platform, _chosen(platform, week), rater, answers, out)
    out.print(f"{rated} answers rated, {left} left; compare: fresh-assets refresh")


@app.command()
def review(
    reviewer: Annotated[str, typer.Option(help="your name")],
    week: OptionalDay = None,
    at_most: Annotated[int, typer.Option(min=1, help="questions to look at")] = 20,
) -> None:
    """Walk the review queue of a week: keep, correct, reword or retire each ground truth.

    Every decision is recorded at once; stop at any time and go on later.
    """
    from fresh_assets.walks import walk_queue

    _, platform = _platform()
    decided = walk_queue(platform, _chosen(platform, week), reviewer, at_most, out)
    out.print(f"{decided} decisions recorded; judge and score anew: fresh-assets refresh")


@app.command()
def export_corrections(
    file: Annotated[Path, typer.Argument(help="CSV file to write")],
    week: OptionalDay = None,
    whole: Annotated[
        bool, typer.Option(help="the complete version as it should be, not only what changes")
    ] = False,
) -> None:
    """Write the decisions in force as a patch in the layout of the upstream sheet."""
    from fresh_assets.staleness.review import corrections_csv

    _, platform = _platform()
    chosen = _chosen(platform, week)
    if file.exists():
        raise UserError(f"{file} exists; move it away first")
    with platform.warehouse.reader() as con:
        text, number = corrections_csv(con, chosen, whole=whole)
    file.write_text(text, encoding="utf-8")
    out.print(f"{number} rows are in {plain(str(file))}", highlight=False)


@app.command()
def import_catalog(
    catalog: Annotated[str, typer.Argument(help="deployment and date, e.g. it-2026-01-05")],
    steps: Annotated[Path | None, typer.Option(exists=True, dir_okay=False)] = None,
    tables: Annotated[Path | None, typer.Option(exists=True, dir_okay=False)] = None,
) -> None:
    """Import the steps and tables that workflows may name (JSON lines or CSV), and index them."""
    files = {"steps": steps, "tables": tables}
    given = {what: (f.read_bytes(), f.name) for what, f in files.items() if f}
    if not given:
        raise UserError("give --steps, --tables or both")
    _, platform = _platform()
    with _progress(f"Importing catalog {catalog}") as report:
        counts = platform.import_catalog(catalog, given)
        done = platform.refresh_catalogs(report)
    out.print(", ".join(f"{number} {what}" for what, number in counts.items()) + f" in {catalog}")
    _print_steps(done)


@app.command()
def import_requests(
    catalog: Annotated[str, typer.Argument(help="the catalog the workflows were made for")],
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)],
    common: Annotated[
        int | None,
        typer.Option(min=0, help="take the N most frequent steps of train for the common ones"),
    ] = None,
) -> None:
    """Import requests with gold workflows (JSON lines), and measure every retriever on them."""
    _, platform = _platform()
    with _progress(f"Importing requests of {catalog}") as report:
        number = platform.import_requests(catalog, file.read_bytes(), file.name, common)
        done = platform.refresh_catalogs(report)
    out.print(f"{number} requests of {plain(catalog)}", highlight=False)
    _print_steps(done)


@app.command()
def train_encoder(
    recipe: Annotated[Literal["paper", "cpu"], typer.Option(help="paper: for a GPU")] = "cpu",
    negatives: Annotated[
        Literal["random", "bm25", "ance", "all"] | None, typer.Option(help="default: the recipe's")
    ] = None,
    minutes: Annotated[float, typer.Option(min=0, help="begin no further epoch after that")] = 0,
    base: Annotated[str, typer.Option(help="encoder to begin with")] = "packaged-minilm",
) -> None:
    """Fine-tune the encoder on the training requests (needs the extra `train`)."""
    settings, platform = _platform()
    with _progress("Training the encoder") as report:
        step = platform.train_encoder(
            report, recipe=recipe, negatives=negatives or "", minutes=minutes, base=base
        )
    _print_steps([step])
    place = plain(str(settings.encoder_folder))
    out.print(f"To use it: FRESH_ASSETS_ENCODER={place} fresh-assets refresh", highlight=False)


@app.command()
def suggest(
    request: str,
    catalog: Annotated[str | None, typer.Option(help="default: the newest")] = None,
    steps: Annotated[int, typer.Option(min=1)] = 15,
    tables: Annotated[int, typer.Option(min=1)] = 10,
) -> None:
    """Say which steps and tables of a catalog go with a request, by the index."""
    from fresh_assets.catalog.indexing import suggest as find

    settings = Settings()
    with Warehouse(settings.warehouse_file, settings.lock_timeout).reader() as con:
        known = con.sql(
            "SELECT what, catalog FROM catalog.indexes ORDER BY right(catalog, 10), catalog"
        ).fetchall()
    if not known:
        raise UserError("no catalog is indexed: `fresh-assets import-catalog` first")
    chosen = catalog or known[-1][1]
    for what, k in (("tables", tables), ("steps", steps)):
        if (what, chosen) in known:
            found = find(settings, chosen, what, request, k)
            out.print(f"[bold]{what} of {plain(chosen)}[/bold]", highlight=False)
            for name, score in zip(found.names, found.scores, strict=True):
                out.print(f"{score:6.3f}  {plain(name)}", highlight=False)


@app.command()
def estimate(week: OptionalDay = None) -> None:
    """Say what a refresh of a week would ask and cost at most, before it does."""
    _, platform = _platform()
    chosen = _chosen(platform, week)
    table = Table(title=f"At most, for week {chosen} (nothing is asked)")
    for column in ("system", "model", "calls", "input tokens", "output tokens", "cost (USD)"):
        table.add_column(column, justify="left" if column in {"system", "model"} else "right")
    with _progress("Estimating") as report:
        for row in platform.estimate(chosen, report):
            table.add_row(*map(plain, row))
    out.print(table)


@cache_app.command("stats")
def cache_stats() -> None:
    """Say what the call cache holds."""
    from fresh_assets.llm.cache import CallCache

    stats = CallCache(Settings().calls_file).stats()
    for state, number in stats.states.items():
        out.print(f"{number:>8} {state}", highlight=False)
    out.print(f"{stats.size / 1e6:.1f} MB, {stats.first or 'never'} to {stats.last or 'never'}")


@cache_app.command("prune")
def cache_prune(
    days: Annotated[int, typer.Option(min=0, help="delete calls older than this")],
    everything: Annotated[
        bool, typer.Option(help="also good replies, which are then asked and paid again")
    ] = False,
) -> None:
    """Delete old calls; without --everything only those that are never served."""
    from fresh_assets.llm.cache import CallCache

    cache = CallCache(Settings().calls_file)
    deleted = cache.prune(timedelta(days=days), only_unserved=not everything)
    out.print(f"{deleted} calls deleted")


@local_app.command("start")
def local_start() -> None:
    """Serve the local model until it is stopped."""
    from fresh_assets.llm.local import model_file, start

    settings = Settings()
    with _progress("Starting the local model"):
        running = start(model_file(settings.local_model), settings.local_server_file)
    out.print(f"{running.model} is served at {running.url} (PID {running.pid})", highlight=False)


@local_app.command("stop")
def local_stop() -> None:
    """Stop the local model."""
    from fresh_assets.llm.local import stop

    running = stop(Settings().local_server_file)
    out.print(f"{running.model} stopped (PID {running.pid})", highlight=False)


@local_app.command("status")
def local_status() -> None:
    """Say whether the local model is served, and where."""
    from fresh_assets.llm.local import status

    running = status(Settings().local_server_file)
    told = f"{running.model} at {running.url} (PID {running.pid})" if running else "not running"
    out.print(told, highlight=False)


@app.command()
def forget_answers(system: Annotated[str, typer.Option()], week: Day) -> None:
    """Remove a system from a week: its imported answers, its answers and its ratings."""
    _, platform = _platform()
    removed = platform.forget_answers(week.date(), system)
    out.print(f"{removed} answers of {plain(system)} removed; publish: fresh-assets refresh")


@app.command()
def versions() -> None:
    """List the imported versions, and those upstream lists that are not imported."""
    settings = Settings()
    with Warehouse(settings.warehouse_file, settings.lock_timeout).reader() as con:
        _print_rows(
            con.sql("""
            SELECT
                coalesce(r.version, i.version) AS version,
                max(r.revision) AS revisions,
                arg_max(r.row_count, r.revision) AS questions,
                arg_max(r.finding_count, r.revision) AS irregular_cells,
                if(arg_max(r.damage_accepted, r.revision), 'damaged', any_value(i.note)) AS note
            FROM freshqa.revisions AS r
            FULL JOIN (FROM freshqa.version_index WHERE version IS NOT NULL) AS i
                ON r.version = i.version
            GROUP BY ALL ORDER BY 1
        """)
        )


@app.command()
def changes(earlier: DayArgument, later: DayArgument) -> None:
    """Show what changed between two imported versions."""
    from fresh_assets.benchmark.changes import compare

    _, platform = _platform()
    with _progress("Bringing the benchmark up to date") as report:
        platform.refresh_benchmark(report)
    with platform.warehouse.reader() as con:
        frame = compare(con, earlier.date(), later.date())
        con.register("found", frame.to_arrow())
        counts = con.sql(
            "SELECT field, detail, count(*) AS questions FROM found GROUP BY ALL ORDER BY ALL"
        )
        _print_rows(counts)
        _print_rows(
            con.sql(
                "SELECT question_key, detail, before, after FROM found "
                "WHERE field = 'answers' ORDER BY ALL LIMIT 20"
            )
        )


@app.command(context_settings={"ignore_unknown_options": True})
def sql(
    query: Annotated[str, typer.Argument(help="SQL text, or a file that ends in .sql")],
    as_csv: Annotated[bool, typer.Option("--csv", help="print CSV")] = False,
) -> None:
    """Query the published file (read-only)."""
    if query.endswith(".sql"):
        query = _read(Path(query))
    with open_latest(Settings().published) as con:
        con.execute("SET enable_external_access = false")
        try:
            result = con.sql(query)
            if result is None:
                return
            if as_csv:
                _write_csv(result)
            else:
                _print_rows(result)
        except duckdb.Error as error:
            raise UserError(str(error)) from error


@app.command()
def ui(
    port: Annotated[int, typer.Option()] = 3000,
    host: Annotated[str, typer.Option()] = "127.0.0.1",
) -> None:
    """Open the Dagster UI (lineage, checks, schedules) on this home."""
    from fresh_assets.refresh import prepare_dagster_home

    settings = Settings()
    dagster = shutil.which("dagster", path=str(Path(sys.executable).parent)) or "dagster"
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(prepare_dagster_home(settings)),
        "FRESH_ASSETS_HOME": str(settings.home.resolve()),
    }
    module = ["-m", "fresh_assets.definitions"]
    os.execve(dagster, [dagster, "dev", *module, "-h", host, "-p", str(port)], environment)  # noqa: S606


@app.command()
def doctor() -> None:
    """Say what is configured, what is missing, and how to mend it."""
    from fresh_assets.doctor import examine

    findings = examine(Settings())
    marks = {
        "ok": "[green]ok[/green]",
        "note": "[yellow]note[/yellow]",
        "broken": "[red]broken[/red]",
    }
    for finding in findings:
        out.print(
            f"{marks[finding.state]:>22}  {plain(finding.subject)}: {plain(finding.text)}",
            soft_wrap=True,
            highlight=False,
        )
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(1)


@app.command()
def version() -> None:
    """Print the version of fresh_assets."""
    out.print(importlib.metadata.version("fresh-assets"))


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} could not be read: {error}") from error


def _platform() -> "tuple[Settings, Platform]":
    from fresh_assets.refresh import Platform

    settings = Settings()
    return settings, Platform(settings)


def _chosen(platform: "Platform", week: datetime | None) -> date:
    return week.date() if week else platform.default_week()


@contextmanager
def _progress(what: str) -> Iterator[Any]:
    """Show a spinner with the running step; plain lines where there is no terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(what)
        yield lambda step: progress.update(task, description=f"{what}: {step}")


def _print_steps(steps: "list[Step]") -> None:
    for step in steps:
        place = plain(f" [{step.partition}]") if step.partition else ""
        out.print(
            f"[green]done[/green] {' + '.join(step.assets)}{place} in {step.seconds:.1f} s",
            highlight=False,
        )
        for warning in step.warnings:
            out.print(
                f"     [yellow]warning[/yellow] {plain(warning)}", highlight=False, soft_wrap=True
            )
    if not steps:
        out.print("Everything is up to date.")


def _print_accuracy(settings: Settings, week: date) -> None:
    with open_latest(settings.published) as con:
        rows = con.execute(
            """
            SELECT
                system, mode, slice, correct, judged, asked, accuracy, ci_low, ci_high, judge,
                version
            FROM mart.accuracy WHERE week = ?
            """,
            [week],
        ).fetchall()
    if not rows:
        return
    for mode in ("relaxed", "strict"):
        for judge in sorted({row[9] for row in rows if row[1] == mode}):
            title = f"{mode.upper()} accuracy in week {week}, version {rows[0][10]}, judge: {judge}"
            told = [row for row in rows if (row[1], row[9]) == (mode, judge)]
            out.print(_accuracy_table(plain(title), told))
    out.print(
        "Correct / rated; intervals and bounds: mart.accuracy. The lexical judge is a stand-in."
    )


def _accuracy_table(title: str, rows: list[tuple[Any, ...]]) -> Table:
    systems = sorted({row[0] for row in rows})
    cells = {(row[2], row[0]): row for row in rows}
    order = [*SLICES, SINCE_CUTOFF]
    asked = {row[2]: row[5] for row in sorted(rows, key=lambda row: order.index(row[2]))}
    table = Table(title=title)
    table.add_column("slice (asked)")
    for system in systems:
        table.add_column(Text(printable(system)), justify="right", overflow="fold")
    for name, number in asked.items():
        told = [_cell(cells.get((name, system))) for system in systems]
        table.add_row(f"{name} ({number})", *told)
    return table


def _cell(row: tuple[Any, ...] | None) -> str:
    if row is None:
        return ""
    if row[6] is None:
        return "not rated"
    interval = f" ({row[7]:.0%} to {row[8]:.0%})" if out.width >= 100 else ""
    return f"{row[6]:.0%}{interval} {row[3]}/{row[4]}"


def _print_rows(result: duckdb.DuckDBPyRelation) -> None:
    table = Table()
    for column in result.columns:
        table.add_column(Text(printable(column)), overflow="fold")
    for row in result.fetchall():
        table.add_row(*(Text("" if v is None else printable(_shown(v))) for v in row))
    out.print(table)


def _write_csv(result: duckdb.DuckDBPyRelation) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows([_safe(value) for value in row] for row in result.fetchall())


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return (
        json.dumps(value, ensure_ascii=False, default=str)
        if isinstance(value, list | dict)
        else str(value)
    )


def _safe(value: object) -> object:
    """Text that a spreadsheet program would run as a formula is quoted."""
    if value is None or isinstance(value, int | float):
        return value
    cell = str(value) if not isinstance(value, list | dict) else _shown(value)
    return f"'{cell}" if re.match(r"[=+@\t\r]|-(?![\d.])", cell) else cell
