"""What is read of GitHub, by kind of page; `webseam.fetch.sites.github` says which address is which."""
