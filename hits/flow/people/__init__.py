"""Workers: their blocks, grants and tests, and what leads decide about their answers."""
