"""One value of each item from the answers of several workers. Pure functions over `hits.stats.answers`."""
