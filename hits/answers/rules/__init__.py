"""Decisions about answers, and what several verbs share."""
