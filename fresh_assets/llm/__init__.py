"""Calls to OpenAI-compatible endpoints: request, cache, limits, retries, cost, local server.

Knows nothing of questions or judges: a request goes in, an outcome comes out.
"""
