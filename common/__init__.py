"""What both projects do in the same way: signing in, and judging addresses, cells, secrets and pages from outside.

Nothing here knows either project: no table, no setting of its own, no address of a page. Each project makes its own
tables and pages from it.
"""

# Of both projects, which are released together; CHANGELOG.md says what changed.
__version__ = "0.3.0"
