"""Keep a benchmark of current facts alive: Dagster assets in DuckDB."""
