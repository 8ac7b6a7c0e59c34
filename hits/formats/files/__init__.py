"""Files that come in, of any kind: bounded, decoded, unpacked, row by row."""
