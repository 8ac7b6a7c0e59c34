"""Figures of data sets and scores of answers."""
