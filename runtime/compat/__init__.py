"""Interfaces of verl and RLinf on the runtime's reservations and workers."""
