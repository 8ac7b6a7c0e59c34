"""What the contract tests have tried, counted by operation and printed at the end of a run."""

from collections import Counter
from collections.abc import Sequence

violations: Counter[str] = Counter()
answers: Counter[str] = Counter()


def count(operation: str, mismatches: Sequence[str]) -> None:
    """Count one answer; raises AssertionError when it does not fit the service model."""
    assert not mismatches, f"{operation} answers outside of its model: {mismatches}"
    answers[operation] += 1


def report() -> list[str]:
    """Lines for the end of a run; none when no contract test ran."""
    if not violations:
        return []
    return [
        f"{sum(violations.values()):,} requests that break the service model, one constraint each, "
        f"refused by {len(violations)} operations",
        f"{sum(answers.values()):,} answers of {len(answers)} operations fit the service model",
    ]
