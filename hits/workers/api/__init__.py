"""Workers in the API."""
