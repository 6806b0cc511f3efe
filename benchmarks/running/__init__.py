"""The layers that the study `runtime` compares, each run as a program of its own."""
