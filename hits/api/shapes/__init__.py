"""What goes over the wire, field by field: a module for each module of views."""
