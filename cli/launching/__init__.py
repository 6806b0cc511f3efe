"""How `launch` does it: in this process or in a keeper, and what that comes to on a terminal."""
