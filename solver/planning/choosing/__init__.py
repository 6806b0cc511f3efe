"""Which of several plans of one problem is the answer: of each choice of tied degrees, of estimates or none, of what a framework refuses."""
