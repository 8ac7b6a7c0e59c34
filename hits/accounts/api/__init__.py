"""Accounts in the API."""
