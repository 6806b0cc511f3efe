"""Dispatch of a group call to the workers, and collection of their answers.

Source: verl, single_controller/base/decorator.py.
"""
