"""Launches that outlive the command that started them: each is held by a keeper, and written down where only its user can read."""
