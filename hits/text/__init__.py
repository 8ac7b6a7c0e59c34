"""Pure functions over text: passages, answer scores, statistics. No Django, no network."""
