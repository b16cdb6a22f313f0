"""Retrievers: which steps and tables to suggest for a request, trained and measured.

Catalogs and indexes come from `catalog`; what is generated from the suggestions is no part of this.
"""
