"""RLinf's own placement tool in a process of its own: `python toolkit.py CHECKOUT`, one line of JSON for each line of JSON.

A question is ``{"task", "accelerators", "graph", "worlds", "sizes", "config"}``: for each component its accelerators and how many replicas
or engines they hold, and the settings that the tool reads. An answer has its total, its counts, the times that it takes for each count, and
its CPU seconds, or its exception. Of Hydra and of RLinf's scheduler, which the tool imports and needs for a live cluster, there are stand-ins; its search is its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
import types
from pathlib import Path
from typing import Any


def install(checkout: Path) -> None:
    """Makes the tool importable."""
    sys.path.insert(0, str(checkout / "toolkits" / "auto_placement"))
    for name in ("hydra", "rlinf", "rlinf.scheduler", "rlinf.utils", "rlinf.utils.placement"):
        sys.modules[name] = types.ModuleType(name)
    vars(sys.modules["hydra"])["main"] = lambda **options: lambda function: function
    vars(sys.modules["rlinf.scheduler"])["Cluster"] = object
    for name in ("HybridComponentPlacement", "ModelParallelComponentPlacement"):
        vars(sys.modules["rlinf.utils.placement"])[name] = object


def spaces(value: Any) -> Any:
    """Maps as objects with attributes; maps of numbers as they are, with whole keys."""
    if not isinstance(value, dict):
        return value
    if value and all(key.isdigit() for key in value):
        return {int(key): inner for key, inner in value.items()}
    return types.SimpleNamespace(**{key: spaces(inner) for key, inner in value.items()})


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """What the tool says."""
    import util
    from auto_placement_worker import AutoPlacementWorker

    config, total, worlds = spaces(question["config"]), question["accelerators"], question["worlds"]
    sizes = {f"{name}_dp_size": count for name, count in question["sizes"].items()}
    sizes |= {f"{name}_world_size": count for name, count in worlds.items()}
    placement = types.SimpleNamespace(_cluster_num_gpus=total, _components=list(worlds), get_world_size=worlds.__getitem__, **sizes)
    began = time.process_time()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            util.init_global_config(config, placement, types.SimpleNamespace(num_accelerators=total))
            worker = AutoPlacementWorker(config, placement, question["graph"])
            found = worker.run()
    except Exception as problem:  # whatever it ends in is the answer
        return {"error": type(problem).__name__, "seconds": time.process_time() - began}
    seconds = time.process_time() - began
    if found is None:
        return {"error": "nothing found", "seconds": seconds}
    counts = {node.role: len(ranks) for node, ranks in found.placement.items()}
    tables = {name: node._gpu_num_to_cost for name, node in worker._name_to_node_dict.items()}
    return {"total": found.total_cost, "seconds": seconds, "counts": counts, "tables": tables}


if __name__ == "__main__":
    install(Path(sys.argv[1]))
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
