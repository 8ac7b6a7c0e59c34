"""The verbs: each reads the rows that the one before it left, and leaves its own."""
