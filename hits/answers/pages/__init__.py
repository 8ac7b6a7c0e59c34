"""Pages of answers, and the task page."""
