"""Following transcripts: live, exactly once, never blind."""
