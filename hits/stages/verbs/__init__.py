"""Changes of stages."""
