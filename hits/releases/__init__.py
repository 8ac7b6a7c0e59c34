"""Releases and results: files for other programs, files that come in, cards, evaluation."""
