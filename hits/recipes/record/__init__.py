"""ReCoRD: cloze queries over news that crowd workers confirm (Zhang et al. 2018)."""
