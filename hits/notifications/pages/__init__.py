"""The page of notices."""
