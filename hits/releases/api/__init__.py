"""Releases and results in the API."""
