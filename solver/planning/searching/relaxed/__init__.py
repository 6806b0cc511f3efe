"""What no design of a question costs less than, whatever its structure: what sets, parts and memory have to do with each other is left out."""
