"""What a design takes for traffic at least, wherever it is placed: by counts and by who shares, before anything is placed."""
