"""Answers: systems under test, the methods that ask them, answers recorded elsewhere.

Reads questions and evidence, writes responses with their state; never rates one.
"""
