"""What hints say of time: what was measured, on how many accelerators of which model, and in which phase."""
