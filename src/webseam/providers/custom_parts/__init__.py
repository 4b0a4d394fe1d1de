"""What the custom provider is made of: templates, the settings read as a whole, results found in any answer."""
