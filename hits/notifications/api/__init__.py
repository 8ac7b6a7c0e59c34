"""Notices in the API."""
