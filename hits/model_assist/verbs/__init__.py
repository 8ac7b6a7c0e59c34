"""Changes of models that answer and of suggestions."""
