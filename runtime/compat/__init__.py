"""Words of verl and RLinf for pools, groups and placements, on the reservations and workers of the runtime."""
