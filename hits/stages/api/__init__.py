"""Stages in the API."""
