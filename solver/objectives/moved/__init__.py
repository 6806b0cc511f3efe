"""What changes against a previous answer."""
