"""Pages of workers."""
