"""From a file to verdicts: import, publish, send, serve, harvest, score, decide, advance. No verb calls another."""
