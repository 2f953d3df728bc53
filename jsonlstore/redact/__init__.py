"""Secrets never reach our disk: one redactor, one predicate, rules as data."""
