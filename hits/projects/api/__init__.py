"""Projects in the API."""
