"""Decisions about workers, and what several verbs share."""
