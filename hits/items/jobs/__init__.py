"""What chains changes of items and stages."""
