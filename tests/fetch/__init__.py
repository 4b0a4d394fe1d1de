"""Reading pages: every part against bytes and documents made here."""
