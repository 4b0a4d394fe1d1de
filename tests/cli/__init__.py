"""The command line, as processes of their own."""
