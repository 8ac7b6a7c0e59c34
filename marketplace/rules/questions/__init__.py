"""Questions of every kind: read from XML, checked at creation, their answers checked again when they come."""
