"""Scoring: accuracy by slice, with counts, intervals and bounds.

Reads ratings; never rates, and never counts an error as an answer.
"""
