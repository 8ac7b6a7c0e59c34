"""Pages of models that answer."""
