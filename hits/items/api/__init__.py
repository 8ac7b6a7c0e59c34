"""Items in the API."""
