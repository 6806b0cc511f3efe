"""Command `placewright` as ``python -m placewright``, of an explicit interpreter."""

from __future__ import annotations

from .cli.entry import main

if __name__ == "__main__":
    main()
