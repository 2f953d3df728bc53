"""OpenClaw's disk: everything we know of it, read only."""
