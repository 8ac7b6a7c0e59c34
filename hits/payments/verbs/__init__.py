"""Changes of money."""
