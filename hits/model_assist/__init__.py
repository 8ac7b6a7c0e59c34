"""Models that answer: registering, routing, suggestions, agreement with people."""
