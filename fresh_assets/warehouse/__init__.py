"""DuckDB: the tables declared in sql/, connections, slices, the archive, the analyst snapshot.

Knows nothing of questions, searches or answers; every other room writes through it.
"""
