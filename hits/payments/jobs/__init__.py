"""What chains changes of money and publishing."""
