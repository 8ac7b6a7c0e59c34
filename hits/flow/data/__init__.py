"""What leads and programs correct in the data, and what is released of them."""
