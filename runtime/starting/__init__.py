"""A plan becomes running workers, once: compared, reserved, started, audited."""
