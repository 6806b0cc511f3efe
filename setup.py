"""Packages of the distribution, found by a rule: the repository root and every package in its rooms.

setuptools finds packages below a folder, but cannot put a prefix before their names in pyproject.toml.
"""

from setuptools import find_packages, setup

ROOMS = ("cli", "models", "planner", "report", "runtime", "solver", "tools")

found = find_packages(include=[*ROOMS, *(f"{room}.*" for room in ROOMS)])
# `script_name` keeps this file out of the package, whose folder it is in.
setup(packages=["placewright", *(f"placewright.{package}" for package in found)], script_name="setup.py")
