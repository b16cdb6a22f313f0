"""The bundled fictional world: people, places and events of which every truth is known.

No model knows this world by heart, so closed-book is closed-book, and what went stale when is known
exactly. Everything is written from a seed at run time; nothing of it is committed.
"""
