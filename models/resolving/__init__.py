"""The models of a job that was read: which card each has, and what follows from it."""
