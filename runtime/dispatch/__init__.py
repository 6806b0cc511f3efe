"""How one call to a group becomes a call to each worker, and how their answers become one. Source: verl, single_controller/base/decorator.py."""
