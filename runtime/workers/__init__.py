"""Processes of a component: started together, called together, ended together."""
