"""Tables that every capability uses, and kinds of columns."""
