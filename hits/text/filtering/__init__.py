"""Filtering by models: which answers and queries a simple model finds."""
