"""Pages of agreement and computations."""
