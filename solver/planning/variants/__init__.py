"""Questions beside the one that is asked, whose answers say how far the answer's proof goes."""
