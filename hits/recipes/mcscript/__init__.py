"""MCScript2.0: told stories, questions about sentences of theirs, and answers of who does not see those sentences."""
