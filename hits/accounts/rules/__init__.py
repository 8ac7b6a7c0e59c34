"""Decisions about accounts, and what several verbs share."""
