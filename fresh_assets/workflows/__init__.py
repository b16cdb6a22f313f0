"""Workflows: their shape, how a model's text is read as one, and how it is measured against gold.

What may be named comes from `catalog`; what is suggested from `retriever`.
"""
