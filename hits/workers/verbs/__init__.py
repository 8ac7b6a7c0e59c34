"""Changes of workers and their qualifications."""
