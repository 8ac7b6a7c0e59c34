"""Decisions about projects, and what several verbs share."""
