"""A simulated crowd: people of known accuracy who work on the marketplace's site as a browser would.

It knows the site and the task page by their HTML alone, and the truth by a file that it is given; it imports no model
and reads no database.
"""
