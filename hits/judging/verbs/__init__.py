"""From labels to verdicts, and to the next stage."""
