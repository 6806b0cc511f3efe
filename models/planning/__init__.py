"""Planning data: measured times, dependencies between tasks, and budgets."""
