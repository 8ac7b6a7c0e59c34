"""Making releases and results, and what is scored against them."""
