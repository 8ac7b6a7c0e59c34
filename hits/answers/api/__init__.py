"""Answers in the API."""
