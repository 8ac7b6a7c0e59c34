"""Decisions about releases, and what several verbs share."""
