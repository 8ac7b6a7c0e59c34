"""Decisions about messages and terms, and what several verbs share."""
