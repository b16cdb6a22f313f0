"""Judging: FreshEval ratings of answers, in RELAXED and STRICT mode.

Reads answers and ground truth, writes ratings; computes no accuracy.
"""
