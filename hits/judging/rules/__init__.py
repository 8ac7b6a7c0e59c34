"""Decisions about labels and verdicts, and what several verbs share."""
