"""One start of a plan: compared, reserved, started, audited, then monitored."""
