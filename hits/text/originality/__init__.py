"""Where texts come from: copies, stock phrases, typing."""
