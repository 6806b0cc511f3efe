"""What runs in the workers' processes and travels there: each file imports the standard library, Ray and others of these alone."""
