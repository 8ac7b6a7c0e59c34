"""Models that answer in the API."""
