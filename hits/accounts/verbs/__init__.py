"""Changes of accounts."""
