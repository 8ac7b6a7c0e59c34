"""Decisions about models that answer, and what several verbs share."""
