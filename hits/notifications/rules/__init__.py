"""Decisions about notices."""
