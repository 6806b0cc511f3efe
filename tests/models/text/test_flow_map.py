"""Text within brackets or braces of YAML is read as it was."""

import pytest
import yaml
from placewright.models.text.edit import in_flow_map


@pytest.mark.parametrize("text", ["0-7", "0-3,8", 'a "b", c', "back\\slash: x", "null", "{x}", "a: b"])
def test_a_text_in_a_flow_map_is_read_as_it_was(text: str) -> None:
    assert yaml.safe_load(f"{{key: {in_flow_map(text)}}}") == {"key": text}
