"""Folders of configurations that the tests of this room put together."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Mapping

import pytest
from placewright.models.composition import Composer
from placewright.models.text.document import Document
from placewright.models.text.source import Source

Compose = Callable[..., Document]


@pytest.fixture
def compose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compose:
    """Composes `main.yaml` of a folder that holds these texts; options are those of Composer."""

    def composed(texts: Mapping[str, str], main: str = "main.yaml", **options: tuple[str, ...]) -> Document:
        for name, text in texts.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, "utf-8")
        monkeypatch.chdir(tmp_path)
        return Composer(**options).compose(Source.read(main))

    return composed
