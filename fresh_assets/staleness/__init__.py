"""Staleness: which ground-truth answers have probably changed, why, and what was decided.

Reads the history of versions, the evidence of the week and the ratings; changes none of them.
"""
