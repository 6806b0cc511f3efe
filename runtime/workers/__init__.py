"""The processes of a component: started together, called together, ended together."""
