"""What background work stands on: queues, leases, and calls that are made once."""
