"""verl's words for pools and groups of workers, on our reservations and workers. Source of names and behaviour: verl, verl/single_controller."""
