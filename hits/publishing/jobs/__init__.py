"""What Celery runs for HITs."""
