"""Pages of messages and terms."""
