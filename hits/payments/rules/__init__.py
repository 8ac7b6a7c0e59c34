"""Decisions about money, and what several verbs share."""
