"""Changes of batches and HITs."""
