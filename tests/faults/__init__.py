"""What servers and files do wrong, row by row."""
