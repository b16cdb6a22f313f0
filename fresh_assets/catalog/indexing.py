"""From the entries of a catalog to its indexes, and suggestions from them."""

from collections.abc import Mapping

import duckdb
import polars as pl

from fresh_assets.catalog.encoder import Encoder, VectorCache
from fresh_assets.catalog.entries import entry_texts, read_entries
from fresh_assets.catalog.index import Found, build_index, open_index
from fresh_assets.errors import UserError
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import sha256


def entries_of(content: bytes, file_name: str, what: str) -> pl.DataFrame:
    """Content rows of catalog.steps or catalog.tables from an imported file."""
    entries = read_entries(content, file_name, what)
    of_steps = ["kind", "takes_table", "is_common"]
    kept = entries if what == "steps" else entries.drop(of_steps)
    return kept.with_columns(file_name=pl.lit(file_name), byte_hash=pl.lit(sha256(content)))


def suggestable(
    con: duckdb.DuckDBPyConnection, catalog: str, what: str, *, common: bool = False
) -> pl.DataFrame:
    """Entries that may be suggested: no triggers and, unless `common`, no common steps, as in arXiv
    2404.08189."""
    where = " AND kind <> 'trigger'" if what == "steps" else ""
    where += " AND NOT is_common" if what == "steps" and not common else ""
    return con.execute(
        f"SELECT name, title, description, app FROM catalog.{what} "
        f"WHERE catalog = ?{where} ORDER BY name",
        [catalog],
    ).pl()


def index_entries(
    settings: Settings, catalog: str, entries: Mapping[str, pl.DataFrame]
) -> pl.DataFrame:
    """Build the indexes of a catalog; content rows of catalog.indexes."""
    encoder, cache = Encoder(settings.encoder), VectorCache(settings.vectors_file)
    rows = []
    for what, of_kind in entries.items():
        vectors, encoded = cache.encode(encoder, entry_texts(of_kind))
        names = of_kind["name"].to_list()
        made = build_index(
            settings.indexes / catalog, what, names, vectors, (encoder.name, encoder.hash),
            settings.exact_up_to,
        )  # fmt: skip
        rows.append(
            {
                "what": what, "encoder": made.encoder, "encoder_hash": made.encoder_hash,
                "dimension": made.dimension, "entries": made.count, "encoded": encoded,
                "metric": made.metric, "kind": made.kind, "recall": made.recall,
                "entries_hash": made.entries_hash, "file_hash": made.file_hash,
            }
        )  # fmt: skip
    if not rows:
        raise UserError(f"catalog {catalog} has nothing that may be suggested")
    return pl.DataFrame(rows)


def suggest(settings: Settings, catalog: str, what: str, request: str, k: int) -> Found:
    """The best `k` (at most as many as there are) by the index of a catalog."""
    encoder = Encoder(settings.encoder)
    index = open_index(settings.indexes / catalog, what, encoder.hash)
    return index.search(encoder.encode([request]), min(k, index.manifest.count))[0]
