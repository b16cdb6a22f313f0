"""HTTP over the open network, for upstream files and search engines; models have their own pool.

Knows nothing of what it fetches.
"""
