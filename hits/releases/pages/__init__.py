"""Pages of releases and results."""
