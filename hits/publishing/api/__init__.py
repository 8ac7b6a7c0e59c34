"""Publishing in the API."""
