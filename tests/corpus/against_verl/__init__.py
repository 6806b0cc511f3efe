"""What the records of verl say, in the words of our findings."""
