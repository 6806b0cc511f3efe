"""What there is: nodes, their accelerators, and which of them stands for which node of a plan."""
