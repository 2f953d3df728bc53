"""From a transcript to meaning: pure functions and small accumulators, no I/O."""
