"""What was I working on last Tuesday? Sessions by time and words."""
