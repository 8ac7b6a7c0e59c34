"""A self-hosted crowd marketplace that speaks the Mechanical Turk requester API (2017-01-17)."""
