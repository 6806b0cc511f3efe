"""What a plan holds of the cluster while it runs."""
