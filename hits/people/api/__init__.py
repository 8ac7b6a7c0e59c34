"""Messages and terms in the API."""
