"""Search: engines, the weekly snapshot in the archive, evidence parsed from it.

Knows questions only as a key and a query; nothing here answers or judges.
"""
