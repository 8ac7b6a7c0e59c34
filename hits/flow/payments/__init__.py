"""Money beside the rewards: bonuses, compensations, and the audit of the books."""
