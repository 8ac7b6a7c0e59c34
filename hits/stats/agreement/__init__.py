"""How far workers agree who answered the same items. Pure functions over `hits.stats.answers`."""
