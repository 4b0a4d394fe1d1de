"""Set-up: files of clients before and after, and the command that changes them."""
