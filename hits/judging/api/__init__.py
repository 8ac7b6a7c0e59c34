"""Agreement, quality and computations in the API."""
