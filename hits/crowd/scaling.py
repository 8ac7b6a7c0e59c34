"""The numbers of a demonstration: a recipe's are made for hundreds of thousands of items.

With one answer an item and a check after every thousand, twenty items would show neither a block nor a second answer.
So a small input asks several workers an item and checks early. With so few answers chance is large: the floor below
which a worker is blocked lies half way between clicking at random (about 0.15) and the crowd (about 0.75, spammers
included), and a worker needs fewer answers to be judged. Tried offline for the seeds 1 to 20: the spammers and nobody
else are found.
"""

from __future__ import annotations

from dataclasses import dataclass

from hits.stats.blocking import Policy

FEW, MANY = 60, 5000


@dataclass(frozen=True)
class Numbers:
    """For the first stage: workers an item, how many of them must be right, and the blocking policy."""

    answers: int
    need: int
    policy: Policy

    def in_words(self) -> str:
        policy = self.policy
        return (
            f"{self.answers} answers an item, {self.need} of them right to keep it; a quality check after every "
            f"{policy.check_every} scored answers; blocked from {policy.min_answers} scored answers below "
            f"{policy.floor:.0%} right (alpha {policy.alpha:g})"
        )


def numbers_for(items: int) -> Numbers | None:
    """What to change for an input of so many items; None from 5,000 on: the recipe's own numbers work."""
    if items < FEW:
        return Numbers(5, 3, Policy(check_every=10, min_answers=10, floor=0.45, alpha=0.01))
    if items < MANY:
        return Numbers(3, 2, Policy(check_every=50, min_answers=20, floor=0.45, alpha=0.01))
    return None
