"""A lead starts a project and sets up its stages."""
