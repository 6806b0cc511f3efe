"""The faults that the study `faults` brings about, each on the same real Ray cluster."""
