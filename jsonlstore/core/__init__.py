"""What every room stands on: time, settings, errors, the model of a session, paths, locks, logs."""
