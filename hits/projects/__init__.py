"""Projects: what is changed of a project as a whole."""
