"""Changes of items."""
