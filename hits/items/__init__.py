"""Items and documents: import, media, priorities, samples, corrections."""
