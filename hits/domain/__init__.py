"""State changes and questions about rows that more than one verb needs, each under its own name."""
