"""Accounts of leads: signing in, sessions, the second factor, tokens, limits."""
