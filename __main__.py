"""Command `placewright` as ``python -m placewright``: selects the interpreter if several have
it.
"""

from __future__ import annotations

from .cli.entry import main

if __name__ == "__main__":
    main()
