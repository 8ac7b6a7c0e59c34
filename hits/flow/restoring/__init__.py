"""After the database was restored from a backup: this side is brought to what the marketplace says. Calls only read."""
