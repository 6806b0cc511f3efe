"""Tools of developers: what they make is data of the project."""
