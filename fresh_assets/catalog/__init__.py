"""Catalogs: the steps and tables that may be named, their differences, encoders and FAISS indexes.

What is asked of them, and who finds what, is in `retriever`.
"""
