"""One module for each form a source may have: bytes in, Markdown out, nothing dialled and nothing kept."""
