"""The language of vote rules, and what they conclude."""
