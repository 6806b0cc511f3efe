"""Efficiency factors: shares of a data sheet's figures that programs reach, as low, likely and high.

They are taken from publications and measurements; none is fitted to the steps of docs/performance.md.
`placewright fit` replaces them by measurements.
"""

from __future__ import annotations

from ..record import dataclass
from .interval import Interval


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Shares of peak figures, and fixed costs in seconds.

    Attributes
    ----------
    train, infer : of bf16 operations, of dense models, without communication that is counted apart.
        Megatron-LM, arXiv 2104.04473, table 1 (44 to 52 % of an A100); MegaScale, arXiv 2402.15627,
        section 6 (55 %); 79 % of one large product, measured on one H200.
    train_experts, infer_experts : the same of models with experts. DeepSeek-V3, arXiv 2412.19437,
        table 1 (35 % of bf16's figure, with fp8); MoE Parallel Folding, arXiv 2504.14960 (39 and 49
        % with long sequences); 20 to 24 % of Qwen3-30B-A3B (Megatron-LM, pull request 5728); 10 % in
        micro batches of 8 (NeMo-RL, issue 966).
    decode : of the memory's bandwidth. 90 % device to device, measured on one H200; 70 % of two H100
        with a model of 72B and one sequence (tt-inference-server, issue 143).
    link, network, host : of a link's figure for large messages, as nccl-tests report them: about 370
        of 450 GB/s a direction in a node of H100, 40 to 48 of 50 between nodes; of PCIe 5 10 to 50
        of 64, by whether memory is pinned.
    hidden : share of data parallel communication behind computation. PyTorch FSDP, arXiv
        2304.11277, section 3.3.
    step : seconds of a decode step beside the accelerator's work: scheduling, sampling, launches;
        1.5 ms measured with graphs on one H200.
    layer_step : seconds of launches and latency of a layer in a decode step.
    expert_layer : seconds in which a layer with experts waits for its host, in one pass of one micro
        batch: launches of many small products, and counts of tokens that must be known before they are
        sent; none where both are tuned away. Qwen3-30B-A3B at 4,096 tokens runs 150 x 10^12 operations
        a second on B200, 120 on H100 (Megatron-MoE-ModelZoo, issues 7 and 21), tuned 504 on GB200 and 240
        (Megatron-LM, pull request 5728): 3.1 and 2.7 ms of a layer are lost.
    tensor : seconds to hand one tensor to the engines: docs/performance.md has the updates measured.
    reduce_near, reduce_far : seconds of a small all-reduce inside a domain, and between nodes.
    imbalance : longest over mean load of data parallel ranks.
    """

    train: Interval = Interval(0.35, 0.45, 0.55)
    infer: Interval = Interval(0.35, 0.5, 0.65)
    train_experts: Interval = Interval(0.1, 0.2, 0.35)
    infer_experts: Interval = Interval(0.1, 0.25, 0.4)
    decode: Interval = Interval(0.5, 0.7, 0.85)
    link: Interval = Interval(0.5, 0.75, 0.85)
    network: Interval = Interval(0.4, 0.7, 0.9)
    host: Interval = Interval(0.15, 0.4, 0.8)
    hidden: Interval = Interval(0.0, 0.6, 0.9)
    step: Interval = Interval(0.0005, 0.002, 0.006)
    layer_step: Interval = Interval(0.00001, 0.00003, 0.0001)
    expert_layer: Interval = Interval(0.0, 0.003, 0.006)
    tensor: Interval = Interval(0.00002, 0.0004, 0.0025)
    reduce_near: Interval = Interval(0.000008, 0.000015, 0.00004)
    reduce_far: Interval = Interval(0.00004, 0.00008, 0.0002)
    imbalance: Interval = Interval(1.0, 1.1, 1.4)


USUAL = Efficiency()
