"""Checks of the scores: what estimates, intervals and bounds must be to each other."""

from fresh_assets.scoring.accuracy import SINCE_CUTOFF, SLICES
from fresh_assets.warehouse.expectations import OF_ITS_TIME, WEEK, Contract

_NAMES = ", ".join(f"'{name}'" for name in (*SLICES, SINCE_CUTOFF))
_KNOWN_SLICE = {"slices are known": f"slice IN ({_NAMES})"}
_HOLDS = "{estimate} BETWEEN {low} - 1e-9 AND {high} + 1e-9"

CONTRACTS = {
    "mart.accuracy": Contract(
        {
            **OF_ITS_TIME,
            **_KNOWN_SLICE,
            "the interval holds the estimate": _HOLDS.format(
                estimate="accuracy", low="ci_low", high="ci_high"
            ),
            "the bounds hold the estimate": _HOLDS.format(
                estimate="accuracy", low="bound_low", high="bound_high"
            ),
            "the estimate is the share": "abs(accuracy - correct / judged) < 1e-9",
        }
    ),
    "mart.comparisons": Contract(
        {
            **OF_ITS_TIME,
            **_KNOWN_SLICE,
            "the difference is that of the two": "abs(accuracy_a - accuracy_b - difference) < 1e-9",
            "the interval is one": "ci_low <= ci_high",
            "what can be detected is a share": "detectable BETWEEN 0 AND 1",
        }
    ),
    "mart.judge_agreement": Contract(
        {
            **WEEK,
            **_KNOWN_SLICE,
            "the interval holds kappa": "kappa BETWEEN kappa_low AND kappa_high",
            "alpha is one": "alpha BETWEEN -1 AND 1",
        }
    ),
    "mart.corrected_accuracy": Contract(
        {**WEEK, "the interval is a share": "corrected_low >= 0 AND corrected_high <= 1"}
    ),
}
