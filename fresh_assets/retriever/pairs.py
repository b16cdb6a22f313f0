"""Training pairs as a table: requests of the train split and the entries that belong to them."""

import duckdb
import polars as pl

from fresh_assets.catalog.entries import entry_texts
from fresh_assets.catalog.indexing import suggestable
from fresh_assets.retriever.requests import STEPS, TABLES, fitted, learnt_catalogs, stored_requests

PAIRS_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "catalog": pl.String, "request_id": pl.String, "what": pl.String, "place": pl.Int32,
    "request": pl.String, "name": pl.String, "entry": pl.String,
}  # fmt: skip


def read_pairs(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Content rows of retriever.pairs; a request without entries keeps a row of its own."""
    rows: list[tuple[str, str, str, int, str, str | None, str | None]] = []
    for key in learnt_catalogs(con):
        asked = fitted(stored_requests(con, key))
        for what in (STEPS, TABLES):
            entries = suggestable(con, key, what)
            texts = dict(zip(entries["name"], entry_texts(entries), strict=True))
            for request in asked:
                names = [name for name in request.names(what) if name in texts]
                rows += [
                    (key, request.id, what, place, request.text, name, texts[name])
                    for place, name in enumerate(names, 1)
                ]
                if not names:
                    rows.append((key, request.id, what, 0, request.text, None, None))
    return pl.DataFrame(rows, schema=PAIRS_SCHEMA, orient="row")
