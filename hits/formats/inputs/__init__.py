"""Files that come in, by what they hold."""
