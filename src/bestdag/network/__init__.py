"""Networks and their files."""
