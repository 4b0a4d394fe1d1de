"""Searching: who is asked (route), how (run, ask), what passes (filters), what is merged (fuse) and shown (render)."""
