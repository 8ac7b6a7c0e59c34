"""Changes of messages and terms."""
