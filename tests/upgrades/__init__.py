"""Databases of earlier versions, with a project that is under way, brought to the newest version and finished there."""
