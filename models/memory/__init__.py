"""Memory of components: estimates, term by term."""
