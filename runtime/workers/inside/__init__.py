"""Code of the worker processes, sent there by value.

Every file imports only the standard library, Ray and other files of this folder.
"""
