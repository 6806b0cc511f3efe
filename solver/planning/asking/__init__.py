"""From a problem to what planning is asked: tasks in an order, relations of given ranks, room on the nodes."""
