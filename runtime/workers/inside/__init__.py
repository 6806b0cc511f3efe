"""Code of the worker processes and of the nodes, sent there by value.

Every file imports only the standard library, Ray and other files of this folder, except in
functions that need placewright anyway.
"""
