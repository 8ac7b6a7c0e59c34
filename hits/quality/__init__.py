"""Pure functions over (item, worker, label): intervals, blocking, vote rules. No Django, no network."""
