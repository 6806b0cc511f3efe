"""What becomes of a launch when the cluster under it changes: placed anew with the fewest moves, and started again."""
