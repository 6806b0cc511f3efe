"""Start of a plan's workers: compared, reserved, started, audited."""
