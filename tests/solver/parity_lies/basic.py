"""Lies about amounts, ranges, sharing, memory and what is given; `test_lies.py` lets parity find them."""

from __future__ import annotations

from dataclasses import replace

from placewright.solver.layout import cells as exactness
from placewright.solver.layout import cells as partition
from placewright.solver.layout import pools
from placewright.solver.layout import ranks as seating
from placewright.solver.layout.cells import ReservationBound
from placewright.solver.layout.layout import Layout
from placewright.solver.layout.ranges import Places
from placewright.solver.model.ranges import Edges
from placewright.solver.model.variables import Variables
from placewright.solver.objectives.counts import MissingAccelerators, UnevenCounts
from placewright.solver.objectives.traffic import DomainsTouched
from placewright.solver.rules import capacity
from placewright.solver.rules.amounts import AllPlaced, Divisibility, EvenShares, NotFewer, WholeShardGroups
from placewright.solver.rules.capacity import FitsCpus, FitsMemory
from placewright.solver.rules.groups import GroupInNode, ProcessOnOneNode, ReplicaOnWholeNodes
from placewright.solver.rules.location import HardwareKind, NodeGroupRule
from placewright.solver.rules.model_divides import ModelDivides
from placewright.solver.rules.no_overlap import NoOverlap
from placewright.solver.rules.order import Contiguous, InOrder, NodeOrder, Strided
from placewright.solver.rules.sharing import Colocated, ColocatedOrDisjoint, Disjoint, RankAligned, Subset, ZeroCopy

from .. import project
from .changes import (
    Lie,
    about,
    about_first,
    all_errors,
    beside_nothing,
    heavier,
    instead,
    nothing_given,
    of_the_largest,
    one_sided,
    one_way,
    only_first,
    only_warned,
    proved,
    silent,
    together,
)

BASIC_LIES: dict[str, tuple[object, str, Lie, str]] = {
    "one accelerator too few is enough": (AllPlaced, "encode", about(lambda c: replace(c, least=c.least - 1)), "disjoint"),
    "one accelerator too many is allowed": (AllPlaced, "encode", about(lambda c: replace(c, most=c.most + 1)), "alone"),
    "too few pass the check": (AllPlaced, "check", about(lambda c: replace(c, least=0)), "disjoint"),
    "too many pass the check": (AllPlaced, "check", about(lambda c: replace(c, most=c.most + 1)), "alone"),
    "any amount divides": (Divisibility, "encode", instead(silent), "whole replicas"),
    "any amount passes the division": (Divisibility, "check", instead(silent), "whole replicas"),
    "groups lie on two nodes": (Variables, "slots", instead(together), "two groups in one cell"),
    "sizes always form a chain": (exactness, "is_chain", instead(lambda sizes: True), "no chain and tight"),
    "ranges take no room": (Variables, "slots", instead(beside_nothing), "contiguous"),
    "ranges may meet": (Variables, "require_disjoint", instead(silent), "contiguous, two"),
    "ranges of other numberings may meet": (Variables, "require_disjoint", instead(silent), "contiguous in overlapping numberings"),
    "ranges may start on what is taken": (Places, "is_free", instead(lambda *arguments: True), "contiguous beside taken"),
    "ranges may cut units": (Places, "is_whole", instead(lambda *arguments: True), "contiguous, tp"),
    "a range ends one resource later": (Edges, "upto", lambda f: lambda self, position: f(self, position - 1), "contiguous"),
    "any order of ranks is the same": (RankAligned, "check", instead(silent), "rank aligned"),
    "given ranks in another order are the same": (RankAligned, "encode", instead(silent), "given in two orders"),
    "every rank finds its weights": (ZeroCopy, "check", instead(silent), "in place, and in one order"),
    "given ranks find their weights anywhere": (ZeroCopy, "encode", instead(silent), "in place, between given"),
    "ranks are seated as they come": (
        seating,
        "_align",
        instead(lambda problem, members: [[each] for each in members]),
        "rank aligned with a stride, inside blocks",
    ),
    "parts of weights are anywhere": (
        seating,
        "weight_part",
        instead(lambda size, parts: lambda position: position % parts),
        "in place",
    ),
    "only accelerator 0 is held twice": (NoOverlap, "check", only_first, "disjoint"),
    "given parts take no room": (Layout, "_free", instead(nothing_given), "given"),
    "groups pass over two nodes": (GroupInNode, "check", instead(silent), "sizes of a chain"),
    "given parts cut no group": (GroupInNode, "encode", instead(silent), "given, uneven"),
    "processes pass over two nodes": (ProcessOnOneNode, "check", instead(silent), "processes around tp groups"),
    "replicas pass over two nodes": (ReplicaOnWholeNodes, "check", instead(silent), "replicas in one node"),
    "given parts cut no replica": (ReplicaOnWholeNodes, "encode", instead(silent), "given, replicas over nodes"),
    "CPUs never end": (FitsCpus, "encode", instead(silent), "CPUs"),
    "CPUs pass whatever they are": (FitsCpus, "check", instead(silent), "CPUs"),
    "nodes differ in no CPUs": (ReservationBound, "may_be_short", instead(lambda *arguments: False), "CPUs"),
    "any rank is a group of shards": (WholeShardGroups, "encode", instead(silent), "groups of shards"),
    "parts of groups of shards pass": (WholeShardGroups, "check", instead(silent), "groups of shards"),
    "parts of groups of shards are given": (WholeShardGroups, "check", instead(silent), "groups of shards, given"),
    "any degree divides a model": (ModelDivides, "encode", instead(silent), "heads of a model"),
    "any degree passes": (ModelDivides, "check", instead(silent), "heads of a model"),
    "what is assumed of a model is an error": (ModelDivides, "check", all_errors, "heads of a model that is assumed"),
    "nothing is ever cut": (project, "_is_cut", instead(lambda *arguments: False), "two groups in one cell"),
    "colocated ones pass apart": (Colocated, "check", instead(silent), "colocated"),
    "given ones may be colocated apart": (Colocated, "encode", instead(silent), "given apart, colocated"),
    "disjoint ones pass together": (Disjoint, "check", instead(silent), "colocated and disjoint"),
    "one bundle is apart from itself": (Disjoint, "encode", instead(silent), "colocated and disjoint"),
    "given ones may meet": (Disjoint, "encode", instead(silent), "given together, disjoint"),
    "pieces pass as a range": (Contiguous, "check", instead(silent), "given in pieces, contiguous"),
    "pieces are a range": (Contiguous, "encode", instead(silent), "given in pieces, contiguous"),
    "any order has the stride": (Strided, "check", about(lambda c: replace(c, stride=1)), "strided"),
    "nodes may go back": (NodeOrder, "encode", instead(silent), "nodes in order"),
    "nodes outside the group are inside": (NodeGroupRule, "encode", instead(silent), "node group"),
    "nodes outside the group pass": (NodeGroupRule, "check", instead(silent), "node group"),
    "any model is the model": (HardwareKind, "encode", instead(silent), "model"),
    "any model passes": (HardwareKind, "check", instead(silent), "model"),
    "everything fits": (FitsMemory, "encode", instead(silent), "memory"),
    "everything passes as fitting": (FitsMemory, "check", instead(silent), "memory"),
    "what fits exactly does not": (FitsMemory, "encode", heavier, "memory at its limit"),
    "phases do not take turns": (
        capacity,
        "peak",
        instead(lambda members, capacity: sum(c.memory for c in members)),
        "phases take turns",
    ),
    "only the first member needs memory": (capacity, "peak", instead(lambda members, capacity: members[0].memory), "colocated"),
    "a part of any accelerator is that of the largest": (
        capacity,
        "peak",
        of_the_largest,
        "memory by its size, too much of the largest",
    ),
    "given parts always fit": (FitsMemory, "encode", instead(silent), "given too large for the memory"),
    "parts pass as all or nothing": (ColocatedOrDisjoint, "check", instead(silent), "colocated or disjoint, given in part"),
    "given ones may share in part": (ColocatedOrDisjoint, "encode", instead(silent), "colocated or disjoint, given in part"),
    "outside passes as within": (Subset, "check", instead(silent), "within given"),
    "outside a searched one passes": (Subset, "check", instead(silent), "within searched"),
    "given ones may lie outside": (Subset, "encode", instead(silent), "given outside given"),
    "a range may leave its host": (Variables, "require_inside", instead(silent), "contiguous within contiguous"),
    "what is within is not counted": (NoOverlap, "_counts", instead(silent), "two within searched"),
    "a host hides nobody's memory": (FitsMemory, "encode", about_first, "within searched, with memory"),
    "memory beside given ones is all there": (
        pools,
        "_with_memory",
        instead(lambda *arguments: arguments[-1]),
        "within given, with memory",
    ),
    "disjoint ones are within reach": (pools, "given_partners", instead(silent), "within given, disjoint from given"),
    "any order passes": (InOrder, "check", instead(silent), "in order"),
    "any order is good": (InOrder, "encode", instead(silent), "in order"),
    "gaps behind given ones": (InOrder, "encode", instead(silent), "in order, beside given at the wrong place"),
    "fewer pass": (NotFewer, "check", instead(silent), "not fewer"),
    "fewer are enough": (NotFewer, "encode", instead(silent), "not fewer, several a process"),
    "uneven shares pass": (EvenShares, "check", instead(silent), "shares"),
    "uneven shares are good": (EvenShares, "encode", instead(silent), "shares of processes"),
    "given ones may get uneven shares": (EvenShares, "encode", instead(silent), "shares, given"),
    "what is not proved binds given ones": (EvenShares, "encode", proved, "shares, given and not proved"),
    "what is not proved binds nobody": (EvenShares, "check", only_warned, "shares, not proved"),
    "crossing is an error": (GroupInNode, "check", all_errors, "groups of given ranks that cross"),
    "all nodes are of one rack": (partition, "path", instead(lambda node: ()), "sizes of a chain"),
    "no rack is ever touched": (Variables, "touches", instead(one_way), "sizes of a chain"),
    "an answer touches one rack more": (DomainsTouched, "value", lambda f: lambda *a: f(*a) + 1, "sizes of a chain"),
    "nothing is ever short": (MissingAccelerators, "value", instead(lambda *arguments: 0), "range"),
    "any split is even": (UnevenCounts, "value", instead(lambda *arguments: 0), "ranges, three"),
    "only the first may have more": (UnevenCounts, "_difference", one_sided, "ranges, three"),
    "differences of counts are overlooked": (UnevenCounts, "value", instead(lambda *arguments: 0), "ranges, one of them within another"),
    "a bound above what is possible": (MissingAccelerators, "bound", instead(lambda *arguments: 3), "range"),
}
