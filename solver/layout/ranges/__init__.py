"""Where solid ranges could lie."""
