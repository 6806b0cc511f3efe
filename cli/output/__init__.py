"""What verbs have in common on a terminal: findings, and how work is seen while it goes on."""
