"""Decisions about stages, and what several verbs share."""
