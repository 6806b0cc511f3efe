"""Groups: one worker on each place of a pool."""
