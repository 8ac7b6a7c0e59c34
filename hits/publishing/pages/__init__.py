"""Pages of publishing."""
