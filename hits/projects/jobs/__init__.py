"""What Celery runs for projects."""
