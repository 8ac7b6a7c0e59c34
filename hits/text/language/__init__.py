"""Everyday and news texts: words, sentences, passages, entities, phrases."""
