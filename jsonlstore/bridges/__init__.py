"""Other programs' formats: what they keep is read, what we know is handed to them in their own form."""
