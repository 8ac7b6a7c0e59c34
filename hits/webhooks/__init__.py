"""Webhooks: addresses of a program of a lead's, to which what happens in a project is posted."""
