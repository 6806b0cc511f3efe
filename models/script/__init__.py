"""Shell scripts as people write them to start a job: read and followed, never executed."""
