"""Every constraint that a job can need: its rule, and problems on which that rule alone refuses something."""

from __future__ import annotations

CONSTRAINTS: dict[str, dict[str, tuple[str, ...]]] = {
    "as many as asked, from a range of counts": {"PW209": ("alone", "range, colocated", "excluded, on nodes")},
    "whole replicas, processes and blocks": {"PW208": ("whole replicas", "single ones in blocks")},
    "a model divides by its degrees": {"PW404": ("heads of a model",)},
    "whole groups of shards": {"PW221": ("groups of shards", "groups of shards, tp", "groups of shards, given")},
    "no accelerator twice, none that another job holds": {"PW201": ("contiguous beside taken", "given", "sizes of a chain")},
    "a process on one node": {"PW203": ("processes around tp groups", "processes of several accelerators")},
    "a tensor parallel group in one node": {"PW202": ("two groups in one cell", "given, uneven")},
    "groups, replicas, components in domains of any level": {
        "PW218": ("component in two racks", "given, kept", "on nodes, kept in a rack")
    },
    "replicas of an engine on whole nodes": {"PW214": ("given, replicas over nodes", "replicas in one node, contiguous")},
    "colocation: the same set": {"PW204": ("colocated", "given apart, colocated")},
    "colocation: the same order of ranks": {"PW219": ("rank aligned", "given in two orders")},
    "colocation: weights handed over in place": {"PW220": ("in place, from given", "in place, a stride that is another")},
    "disjointness": {"PW207": ("given together, disjoint", "within searched, disjoint")},
    "the same or none in common": {"PW211": ("colocated or disjoint, given in part",)},
    "a subset": {"PW212": ("given outside given", "within two given")},
    "one after the other": {"PW213": ("in order", "in order, beside given in pieces")},
    "contiguous ranks": {"PW205": ("given in pieces, contiguous", "range in one rack")},
    "whole processes of another where both are": {"PW217": ("in step, within", "in step, around", "in step, beside given")},
    "stride": {"PW206": ("strided", "strided range over racks")},
    "processes in the order of nodes": {"PW210": ("pinned, nodes in order", "on nodes, pinned in order")},
    "node groups": {"PW301": ("node group", "given in the wrong group")},
    "models of accelerators, robots, nodes": {"PW302": ("model",)},
    "excluded nodes": {"PW303": ("excluded", "excluded, colocated with given", "excluded, a range", "excluded, given")},
    "pinned ranks": {"PW304": ("pinned, groups", "pinned, a range", "pinned, rank aligned", "pinned, given", "on nodes, pinned")},
    "failure domains": {"PW305": ("spread over racks", "spread, a third of groups", "spread, given", "on nodes, spread over nodes")},
    "anti-affinity": {"PW306": ("apart on nodes", "apart from given", "apart from robots", "on nodes, apart from accelerators")},
    "affinity": {"PW307": ("near on nodes", "given near searched", "near robots", "on nodes, near accelerators")},
    "equal shares of work": {"PW401": ("shares", "shares, given", "shares on nodes")},
    "not fewer processes": {"PW402": ("not fewer", "not fewer, given")},
    "memory of accelerators, phase by phase": {"PW501": ("memory", "offloaded, given", "offloaded, within given")},
    "CPUs of nodes": {"PW502": ("CPUs beside given", "CPUs, contiguous", "on nodes, unequal CPUs")},
    "memory of nodes": {"PW503": ("host memory beside given", "host memory, a range", "on nodes, host memory")},
}
"""What a job can need -> the code of its rule -> problems on which that rule alone refuses something."""
