"""Answers: the task page, drafts, harvest, assignments, labels, review."""
