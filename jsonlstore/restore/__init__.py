"""What to bring back from earlier sessions, and how to say it."""
