"""Reading and writing data-set files. A file is read whole or refused with all its faults; no Django, no network."""
