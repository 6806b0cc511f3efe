"""Shell scripts that start training jobs: parsed and interpreted, never executed."""
