"""What commands come to: variables, expansions, conditions, loops. Nothing is run; what only running could tell is not known."""
