"""Between the search for designs and their placement: what is ruled out, what crosses, what nobody found."""
