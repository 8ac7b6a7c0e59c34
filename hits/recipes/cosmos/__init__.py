"""Cosmos QA: questions written about paragraphs, validated by majority, with "None of the above" put in."""
