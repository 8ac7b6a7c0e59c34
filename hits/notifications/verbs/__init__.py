"""Writing and sending notices."""
