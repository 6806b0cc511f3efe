"""What there is to say of a design that was chosen: where its time goes, who waits, what it needs, what else there was."""
