"""The command `placewright` as ``python -m placewright``: of the interpreter that is named, where several have it installed."""

from __future__ import annotations

from .cli.entry import main

if __name__ == "__main__":
    main()
