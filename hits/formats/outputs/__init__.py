"""Files of releases and results."""
