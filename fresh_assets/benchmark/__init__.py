"""FreshQA: the list of versions, importing a version, identity of questions, changes.

Nothing here searches, asks a model or judges.
"""
