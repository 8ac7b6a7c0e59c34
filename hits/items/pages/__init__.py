"""Pages of items."""
