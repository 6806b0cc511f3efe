"""How much crosses in a second: in bytes, as files say it. Networks are sold by bits: these are refused, with the bytes that they are."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.quantity import MEMORY_PATTERN, RATE_PATTERN, AdviceError, read_memory, read_rate

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


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("400Gb", "write `50GB`, which is 400 Gbit a second, or `400GB` if bytes are meant"),
        ("100gb", "write `12.5GB`, which is 100 Gbit a second, or `100GB` if bytes are meant"),
        ("200Gib", "write `25GiB`, which is 200 Gibit a second, or `200GiB` if bytes are meant"),
        ("0.001Mb", "write `0.000125MB`, which is 0.001 Mbit a second, or `0.001MB` if bytes are meant"),
        ("400 Gb/s", "write `50GB`, which is 400 Gbit a second, or `400GB` if bytes are meant"),
        ("400Gbps", "write `50GB`, which is 400 Gbit a second"),
        ("1.6 Tbit/s", "write `0.2TB`, which is 1.6 Tbit a second"),
        ("400 Gbits per second", "write `50GB`, which is 400 Gbit a second"),
    ],
)
def test_bits_are_refused_with_the_bytes_that_they_are(written: str, instead: str) -> None:
    with pytest.raises(AdviceError) as refused:
        read_rate(written)
    assert str(refused.value) == f"`{written}` is bits, as its small `b` says, and 8 bits are a byte"
    assert refused.value.advice == instead


@pytest.mark.parametrize("written", ["50GB/s", "50 GBps", "50 Gbytes per second"])
def test_a_second_need_not_be_said(written: str) -> None:
    with pytest.raises(AdviceError) as refused:
        read_rate(written)
    assert refused.value.advice == "write `50GB`: it is meant for a second"


@pytest.mark.parametrize("written", ["lots", "", "50GBs", "50KB", "-1GB", "1e3GB", "0.1M"])
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
    assert finding.help == "write `50GB`, which is 400 Gbit a second, or `400GB` if bytes are meant"
