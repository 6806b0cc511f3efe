"""How much crosses in a second: in bytes, as files say it. Networks are sold by bits, which are refused."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.quantity import MEMORY_PATTERN, RATE_PATTERN, read_memory, read_rate

GB = Fraction(10**9, 2**20)


@pytest.mark.parametrize(
    ("written", "rate"),
    [
        ("400GB", 400 * GB),
        ("50GiB", 50 * 1024),
        ("50giB", 50 * 1024),
        ("50", 50 * 1024),
        ("50G", 50 * 1024),
        ("50 g", 50 * 1024),
        ("0.5T", 512 * 1024),
        ("0", 0),
    ],
)
def test_bytes_a_second(written: str, rate: int | Fraction) -> None:
    assert read_rate(written) == rate


@pytest.mark.parametrize("written", ["lots", "", "50GBs", "50KB", "-1GB", "1e3GB", "0.1M", "400Gb", "200Gib", "400Gbps", "50GB/s"])
def test_what_is_no_rate(written: str) -> None:
    with pytest.raises(ValueError, match=r"is not an amount a second such as|is less than 1 MiB a second"):
        read_rate(written)


@pytest.mark.parametrize("unit", ["", "T", "g", "Gi", "GiB", "gIB", "Gb", "gb", "mib", "MB", "KB"])
def test_the_schema_takes_what_is_read(unit: str) -> None:
    for pattern, read in ((RATE_PATTERN, read_rate), (MEMORY_PATTERN, read_memory)):
        try:
            read(f"8 {unit}")
            taken = True
        except ValueError:
            taken = False
        assert bool(re.fullmatch(pattern, f"8 {unit}")) == taken, (pattern, unit)


def test_a_file_with_bits_is_told_at_the_amount(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    text = "cluster: 2x8xH100\ncomponents: {actor: {seconds: {8: 70, 16: 40}}}\nplan: {bandwidth: {node: 400Gb}}\n"
    file.write_text(text, encoding="utf-8")
    (finding,) = (each for each in pw.verify(file).findings if each.severity.value == "error")
    assert finding.code == "PW105" and finding.span is not None
    assert text[finding.span.start : finding.span.end] == "400Gb"
    assert finding.help == "write an amount such as `50GiB`"
    assert finding.message.endswith("a small `b` would be bits")
