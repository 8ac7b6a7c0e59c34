"""Writing with workers: messages, the inbox, the terms."""
