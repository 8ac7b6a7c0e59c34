"""Questions on texts, written by people or made of sentences."""
