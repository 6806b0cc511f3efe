"""vLLM and SGLang themselves, where an interpreter that has them is named: their own parsers take the command of a headless node.

PLACEWRIGHT_VLLM and PLACEWRIGHT_SGLANG each name such an interpreter; no accelerator is needed. Last done with vLLM 0.33.0 and SGLang 0.5.23.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest
from placewright.runtime.engines.engine import Meeting, ReplicaShape, engine_class
from placewright.runtime.engines.external import sglang_arguments, vllm_arguments

PARSERS = {
    "vllm": """
from vllm import platforms
if platforms.current_platform.is_unspecified():
    from vllm.platforms.cpu import CpuPlatform
    platforms.current_platform = CpuPlatform()
try:
    from vllm.entrypoints.common.cli_args import make_arg_parser
except ImportError:
    from vllm.entrypoints.openai.cli_args import make_arg_parser
from vllm.utils.argparse_utils import FlexibleArgumentParser
import json, sys, vllm
parsed = make_arg_parser(FlexibleArgumentParser()).parse_args(sys.argv[3:])
assert parsed.headless and parsed.model_tag == "org/model"
found, same = vllm.AsyncEngineArgs.from_cli_args(parsed), vllm.AsyncEngineArgs(model="org/model", **json.loads(sys.argv[1]))
print(json.dumps([{name: str(getattr(each, name)) for name in json.loads(sys.argv[1])} for each in (found, same)]))
""",
    "sglang": """
import argparse, inspect, json, sys
from sglang.srt.server_args import ServerArgs
parser = argparse.ArgumentParser()
ServerArgs.add_cli_args(parser)
parsed, wanted = parser.parse_args(sys.argv[2:]), json.loads(sys.argv[1])
assert set(wanted) <= set(inspect.signature(ServerArgs).parameters)
print(json.dumps([{name: str(getattr(parsed, name)) for name in wanted}, {name: str(value) for name, value in wanted.items()}]))
""",
}
OWN: dict[str, dict[str, Any]] = {
    "vllm": {
        "max_model_len": 128, "enforce_eager": True, "enable_prefix_caching": False, "hf_overrides": {"a": 1}, "enable_sleep_mode": True,
        "gpu_memory_utilization": 0.5,
    },
    "sglang": {"context_length": 128, "enable_memory_saver": True, "mem_fraction_static": 0.5, "disable_cuda_graph": False},
}  # fmt: skip
SHAPES = [
    ("vllm", ReplicaShape(16)),
    ("vllm", ReplicaShape(4, 4)),
    ("vllm", ReplicaShape(8, 2, 2)),
    ("sglang", ReplicaShape(16)),
    ("sglang", ReplicaShape(8, 1, 2)),
]


@pytest.mark.parametrize(("name", "shape"), SHAPES)
def test_the_command_of_another_node_says_what_the_first_is_given(name: str, shape: ReplicaShape) -> None:
    python = os.environ.get(f"PLACEWRIGHT_{name.upper()}")
    if not python:
        pytest.skip(f"PLACEWRIGHT_{name.upper()} names no interpreter")
    settings, meeting = {"path": "org/model", **OWN[name]}, Meeting("10.0.0.1", (5001, 5002), 1, 2)
    arguments = {"vllm": vllm_arguments, "sglang": sglang_arguments}[name](settings, shape, meeting)
    _, _, _, *command = engine_class(name).headless(settings, shape, meeting)
    done = subprocess.run([python, "-c", PARSERS[name], json.dumps(arguments), *command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found, expected = json.loads(done.stdout.splitlines()[-1])
    assert found == expected
