"""What is shown of a plan whose counts were chosen by time: an account of it, for a person and for a program."""
