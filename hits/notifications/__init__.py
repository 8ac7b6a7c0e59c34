"""Notices to leads, on pages and by e-mail."""
