"""Decisions about items, and what several verbs share."""
