"""What is counted on one accelerator: how degrees divide it, what stays, what is not counted for want of a number."""

from __future__ import annotations

import pytest
from placewright.models.component import Component, Parallel
from placewright.models.estimate import DISTRIBUTED, FSDP, FULL, MEGATRON, NONE, SELECTIVE, ZERO1, ZERO3, MemoryInput, non_default_keys
from placewright.models.memory.estimate import estimate_memory
from placewright.models.memory.terms import EstimatedTotal
from placewright.models.memory.work import as_run
from placewright.models.model_cards.known import known_model
from placewright.models.parallel import UNDIVIDED

MODEL = "Qwen/Qwen2.5-7B"


def of(
    estimate: MemoryInput, accelerators: int = 1, parallel: Parallel = UNDIVIDED, role: str = "actor", model: str = MODEL
) -> EstimatedTotal:
    found = estimate_memory(Component(role, estimate=estimate), known_model(model) if model else None, parallel, accelerators, 80 * 1024)
    assert found is not None
    return found


def sizes(found: EstimatedTotal) -> dict[str, int]:
    return {term.name: term.size for term in found.terms}


@pytest.mark.parametrize("utilization", [30, 60, 85, 90])
def test_an_engine_takes_its_part_of_the_accelerator(utilization: int) -> None:
    found = of(MemoryInput(sequence=8192, sequences=4, utilization=utilization), 2, Parallel(tp=2), "rollout")
    assert found.mebibytes == 80 * 1024 * utilization // 100 + 512
    assert list(sizes(found)) == ["weights", "context", "communication", "cache", "one step", "more cache", "graphs"]
    assert 0 <= found.mebibytes - found.low <= 512 and 0 <= found.high - found.mebibytes <= 512  # of the graphs alone


def test_an_engine_that_needs_more_than_its_part_needs_that() -> None:
    found = of(MemoryInput(sequence=32_768, sequences=64, utilization=30), 1, UNDIVIDED, "rollout")
    assert "more cache" not in sizes(found) and found.mebibytes > 80 * 1024 * 30 // 100


def test_ninety_percent_fit_with_the_graphs_at_their_most() -> None:
    found = of(MemoryInput(sequence=8192, utilization=90), 1, UNDIVIDED, "rollout")
    assert found.high == 80 * 1024 * 90 // 100 + 1024


def test_what_serves_or_infers_has_neither_gradients_nor_an_optimizer() -> None:
    assert set(sizes(of(MemoryInput(sequence=8192), role="rollout"))) == {"weights", "context", "cache", "one step", "graphs"}
    computed = {"weights", "context", "activations", "logits", "allocator"}
    assert set(sizes(of(MemoryInput(sequence=8192), role="reference"))) == computed
    assert {"gradients", "optimizer"} <= set(sizes(of(MemoryInput(), role="critic")))
    assert "gradients" not in sizes(of(MemoryInput(), role="anything")) and "gradients" in sizes(
        of(MemoryInput(optimizer="sgd"), role="anything")
    )


def test_the_fullest_stage_is_the_one_with_the_embedding() -> None:
    """Megatron-LM, megatron/training/theoretical_memory_usage.py: a stage's layers and one embedding, divided by tp."""
    card = known_model(MODEL)
    assert card is not None
    embedding = card.vocabulary * card.hidden
    layers = card.parameters - 2 * embedding
    for pp, most in ((2, 14), (4, 7), (8, 4), (28, 1)):
        for tp in (1, 2, 4):
            weights = sizes(of(MemoryInput(precision="bf16", optimizer=NONE), pp * tp, Parallel(tp=tp, pp=pp)))["weights"]
            assert weights == pytest.approx(2 * (layers * most / 28 + embedding) / tp, abs=4)


def test_key_value_heads_are_repeated_where_ranks_are_more() -> None:
    """4 key-value heads: 8 ranks hold as much each as 4 do."""
    each = [sizes(of(MemoryInput(sequence=4096), tp, Parallel(tp=tp), "rollout"))["cache"] for tp in (1, 2, 4, 8)]
    assert each == [each[0], each[0] // 2, each[0] // 4, each[0] // 4]


@pytest.mark.parametrize(("ep", "tp"), [(1, 1), (8, 1), (8, 2), (4, 4)])
def test_experts_divide_by_ep_and_all_the_rest_does_not(ep: int, tp: int) -> None:
    card = known_model("Qwen/Qwen3-30B-A3B")
    assert card is not None
    experts = 3 * card.experts * card.hidden * card.expert_intermediate * card.layers
    weights = sizes(of(MemoryInput(sharding=MEGATRON), ep * tp, Parallel(tp=tp, ep=ep), model=card.name))["weights"]
    assert weights == pytest.approx(2 * (experts / (ep * tp) + (card.parameters - experts) / tp), abs=4)


def test_adapters_have_the_only_gradients() -> None:
    found = sizes(of(MemoryInput(trainable=40_000_000, sharding=NONE)))
    card = known_model(MODEL)
    assert card is not None and found["weights"] == 2 * card.parameters
    assert (found["gradients"], found["optimizer"]) == (2 * 40_000_000, 12 * 40_000_000)


@pytest.mark.parametrize(
    ("model", "rank", "count"), [("meta-llama/Meta-Llama-3-8B", 16, 41_943_040), ("Qwen/Qwen2.5-7B", 32, 80_740_352)]
)  # fmt: skip
def test_adapters_beside_every_matrix(model: str, rank: int, count: int) -> None:
    """LoRA, arXiv 2106.09685, section 4.1: a matrix of d x k gets one of d x r and one of r x k. 41,943,040 is what PEFT prints of Llama 3 8B with
    rank 16 on all of them; the other is computed: 28 x 32 x (2 x 7168 + 2 x 4096 + 3 x 22,528)."""
    found = of(MemoryInput(lora_rank=rank, sharding=ZERO3), model=model)
    (gradients,) = [term for term in found.terms if term.name == "gradients"]
    assert gradients.size == 2 * count and found.missing == ("activations: `sequence` is unset",)
    unknown = of(MemoryInput(lora_rank=rank, parameters=7 * 10**9, sequence=4096), model="")
    assert unknown.missing[0] == "adapters: the layers and the width of the model are not known" and "gradients" not in sizes(unknown)


@pytest.mark.parametrize("sharding", [ZERO3, FSDP])
def test_layers_are_whole_while_they_work(sharding: str) -> None:
    """28 layers of 233 million parameters, two of which are there at once, and embedding and head of 545 million each; in 16 bits."""
    gathered = sizes(of(MemoryInput(sharding=sharding, sequence=8192), 8))["gathered weights"]
    assert gathered == pytest.approx(2 * (2 * (7_615_616_512 - 2 * 544_997_376) / 28 + 2 * 544_997_376), rel=1e-6)
    assert "gathered weights" not in sizes(of(MemoryInput(sharding=sharding, sequence=8192), 1))


def test_shards_are_the_ranks_that_divide() -> None:
    """PyTorch FSDP, arXiv 2304.11277, section 3.2.2: a group of F ranks holds all of the model, another group the same."""
    for sharding in (FSDP, ZERO3, DISTRIBUTED):
        eight = sizes(of(MemoryInput(sharding=sharding), 8))
        assert sizes(of(MemoryInput(sharding=sharding, shards=8), 64)) == eight == sizes(of(MemoryInput(sharding=sharding, shards=64), 8))
    assert sizes(of(MemoryInput(sharding=FSDP, shards=1), 8))["weights"] == 4 * 7_615_616_512


@pytest.mark.parametrize("sharding", [ZERO1, ZERO3, DISTRIBUTED])
def test_experts_are_divided_among_the_ranks_that_hold_the_same(sharding: str) -> None:
    """16 accelerators, ep 8: every expert is on 2 of them, and all the rest on all 16. No accelerator has less than its part of all 16."""
    card = known_model("Qwen/Qwen3-30B-A3B")
    assert card is not None
    experts = 3 * card.experts * card.hidden * card.expert_intermediate * card.layers
    found = of(MemoryInput(sharding=sharding), 16, Parallel(ep=8), model=card.name)
    (optimizer,) = [term for term in found.terms if term.name == "optimizer"]
    assert optimizer.size == 12 * ((card.parameters - experts) // 16 + experts // 16)
    assert optimizer.formula == "(1,541,093,376 parameters / 16 ranks + 3,623,878,656 of experts / 2 ranks) x 12 bytes"
    alone = of(MemoryInput(sharding=sharding), 8, Parallel(ep=8), model=card.name)
    assert "of experts) x 12 bytes" in next(term.formula for term in alone.terms if term.name == "optimizer")


def test_whole_experts_are_gathered_by_nobody() -> None:
    """Where no other rank holds the same experts, they are whole all the time."""
    gathered = [
        sizes(of(MemoryInput(sharding=ZERO3, sequence=8192), ranks, Parallel(ep=8), model="Qwen/Qwen3-30B-A3B"))["gathered weights"]
        for ranks in (8, 16)
    ]
    assert gathered[1] - gathered[0] == pytest.approx(2 * 2 * 3 * 16 * 2048 * 768, rel=1e-6)  # two layers of 16 experts


@pytest.mark.parametrize(("parallel", "degree"), [(Parallel(tp=4), 4), (Parallel(tp=2, dp=4), 8), (Parallel(tp=2, dp=4, ep=8), 8)])
def test_an_engine_divides_experts_among_all_its_ranks(parallel: Parallel, degree: int) -> None:
    """vLLM, docs/serving/data_parallel_deployment.md: expert layers form a group of size DP x TP, with expert parallelism or without."""
    card = known_model("Qwen/Qwen3-30B-A3B")
    assert card is not None
    experts = 3 * card.experts * card.hidden * card.expert_intermediate * card.layers
    weights = sizes(of(MemoryInput(sequence=4096), 8, parallel, "rollout", card.name))["weights"]
    assert weights == pytest.approx(2 * (experts / degree + (card.parameters - experts) / parallel.tp), abs=4)


def test_ranks_in_an_engine_have_sequences_of_their_own() -> None:
    each = [sizes(of(MemoryInput(sequence=4096, sequences=64), dp, Parallel(dp=dp), "rollout"))["cache"] for dp in (1, 4)]
    assert each[0] == 4 * each[1]


def test_latent_attention_keeps_keys_and_values_of_every_head() -> None:
    """DeepSeek-V3: queries and keys of 192 numbers and values of 128 for 128 heads, what attention gives of 128, and two latents twice."""
    card = known_model("deepseek-ai/DeepSeek-V3")
    assert card is not None
    found = of(MemoryInput(sequence=1, recompute=SELECTIVE, optimizer="adam8bit"), model=card.name)
    (kept,) = [term for term in found.terms if term.name == "activations"]
    attention = 2 * 128 * (192 + 128) + 2 * (576 + 1536)
    assert kept.size == 2 * (4 * 7168 + attention + 2 * 7168 * 8 + 4 * 2048 * 9) * card.layers


def test_what_stays_while_others_work() -> None:
    found = of(MemoryInput(sharding=FSDP, sequence=8192), 8)
    staying = {term.name for term in found.terms if term.stays}
    assert staying == {"weights", "optimizer", "context", "communication"}
    assert found.kept == -(-sum(term.size for term in found.terms if term.stays) // (1 << 20)) < found.mebibytes
    assert of(MemoryInput(sharding=FSDP, sequence=8192, offload=True), 8).kept == 614 + 256  # the process stays, with its context
    assert "gradients" in {term.name for term in of(MemoryInput(sharding=DISTRIBUTED), 8).terms if term.stays}  # Megatron keeps its buffer


def test_recomputation_needs_less_in_this_order() -> None:
    totals = [of(MemoryInput(sequence=8192, sharding=FSDP, recompute=recompute), 8).mebibytes for recompute in (FULL, SELECTIVE, NONE)]
    scores = of(MemoryInput(sequence=8192, sharding=FSDP, recompute=NONE, attention_scores=True), 8).mebibytes
    assert totals[0] < totals[1] == totals[2] < scores


def test_context_parallel_ranks_divide_sequences_but_not_weights() -> None:
    one, two = (sizes(of(MemoryInput(sequence=8192, sharding=MEGATRON), cp, Parallel(cp=cp))) for cp in (1, 2))
    assert two["logits"] == one["logits"] // 2 and two["weights"] == one["weights"]


def test_what_nobody_says_is_named() -> None:
    assert of(MemoryInput(parameters=7 * 10**9), model="").missing == ("activations: `sequence` is unset",)
    shapeless = "the layers and the width of the model are not known"
    assert of(MemoryInput(parameters=7 * 10**9, sequence=8192), model="").missing == (f"activations: {shapeless}",)
    assert of(MemoryInput(parameters=7 * 10**9, sequence=8192), role="rollout", model="").missing == (f"the cache: {shapeless}",)
    assert estimate_memory(Component("actor", estimate=MemoryInput(sequence=8192)), None, UNDIVIDED, 8) is None
    assert estimate_memory(Component("actor"), known_model(MODEL), UNDIVIDED, 8) is None


def test_what_is_taken_for_granted_is_named() -> None:
    assert of(MemoryInput(), model="/models/Qwen2.5-7B").assumed == (
        "the model is taken for `Qwen/Qwen2.5-7B`, by the last part of its path",
    )
    counted = of(MemoryInput(layers=28, hidden=3584, heads=28, kv_heads=4, intermediate=18_944, vocabulary=152_064), model="")
    assert counted.assumed == ("7,615,283,200 parameters, counted from the shape of the model, with gated feed-forward parts",)


def test_what_is_assumed_of_activations_is_named_where_they_are_counted() -> None:
    again, tokens = "layers are computed again in the backward pass (`recompute: full`)", "(sequence parallelism)"
    assert of(MemoryInput(sequence=8192)).assumed == (again,)
    assert of(MemoryInput(sequence=8192, written=("recompute",))).assumed == ()
    assert of(MemoryInput(sequence=8192, recompute=NONE), 2, Parallel(tp=2)).assumed[0].endswith(tokens)
    assert of(MemoryInput(), 2, Parallel(tp=2)).assumed == ()
    assert of(MemoryInput(sequence=8192), 2, Parallel(tp=2), "rollout").assumed == ()


def test_a_formula_gives_its_size() -> None:
    found = of(MemoryInput(sharding=ZERO3, sequence=8192), 16, Parallel(tp=2))
    words = {term.name: term.formula for term in found.terms}
    assert words["optimizer"] == "3,807,808,256 parameters x 12 bytes / 8 ranks"
    assert sizes(found)["optimizer"] == 3_807_808_256 * 12 // 8
    assert words["logits"] == "8,192 tokens x 152,064 of the vocabulary x 12 bytes / tp 2"
    assert sizes(found)["logits"] == 8192 * 152_064 * 12 // 2
    assert all(term.source for term in found.terms)


def test_settings_of_a_framework_give_way_to_what_the_user_writes() -> None:
    said = MemoryInput(sequence=4096, offload=False, written=("sequence", "offload"))
    run = MemoryInput(sequence=8192, sharding=FSDP, offload=True, micro_batch=4)
    assert non_default_keys(as_run(said, run)) == {"sequence": 4096, "sharding": FSDP, "micro_batch": 4}
    assert as_run(as_run(said, run), run) == as_run(said, run)
    assert as_run(said, None) is said
