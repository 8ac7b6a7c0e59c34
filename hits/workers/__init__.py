"""Workers: figures, blocks, qualifications and their tests, screening."""
