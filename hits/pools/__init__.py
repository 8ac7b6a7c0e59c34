"""Pools: named sets of workers that projects share, who is in them, and the links that invite people."""
