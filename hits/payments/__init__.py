"""Payments beside the rewards of answers: bonuses, files of them, and compensations."""
