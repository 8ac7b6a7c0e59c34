"""What leads are told: found by Celery, shown on pages."""
