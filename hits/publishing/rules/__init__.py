"""Decisions about HITs, and what several verbs share."""
