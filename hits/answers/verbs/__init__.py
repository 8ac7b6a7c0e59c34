"""Changes of answers."""
