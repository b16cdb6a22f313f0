"""What the tables of this room must hold."""

from fresh_assets.catalog.checks import CATALOG_KEY
from fresh_assets.warehouse.expectations import SHA256, Contract

CONTRACTS = {
    "workflow.requests": Contract(
        {
            **CATALOG_KEY,
            "files have a hash": SHA256.format("byte_hash"),
            "workflows are JSON": "workflow IS NULL OR json_valid(workflow)",
            "steps are named once": "len(steps) = len(list_distinct(steps))",
        }
    ),
    "retriever.pairs": Contract({**CATALOG_KEY, "what is encoded is no empty text": "entry <> ''"}),
    "retriever.encoder": Contract({"losses are numbers": "NOT isnan(loss) AND loss >= 0"}),
    "mart.retriever_recall": Contract(
        {
            **CATALOG_KEY,
            "intervals hold the mean": "recall BETWEEN recall_low - 1e-9 AND recall_high + 1e-9",
        }
    ),
}
