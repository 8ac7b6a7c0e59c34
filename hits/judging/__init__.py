"""Judging: which labels count, verdicts, additional answers, figures, computations."""
