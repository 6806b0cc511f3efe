"""Names of drivers, nvidia-smi and Ray, and what cluster files call the same models."""

from __future__ import annotations

import pytest
from placewright.runtime.world.nvidia_smi import model_of, same_model, stated_memory


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"), ("NVIDIA H100 NVL", "H100"), ("NVIDIA H200", "H200"), ("NVIDIA H20-3e", "H20"),
        ("NVIDIA A100-SXM4-80GB", "A100"), ("NVIDIA A100-SXM4-40GB", "A100-40GB"), ("A100-PCIE-40GB", "A100-40GB"),
        ("NVIDIA A800-SXM4-80GB", "A800"), ("Tesla V100-SXM2-16GB", "V100"), ("Tesla T4", "T4"), ("NVIDIA L40S", "L40S"),
        ("NVIDIA GH200 480GB", "GH200"), ("NVIDIA GB200", "GB200"), ("NVIDIA A10G", "A10G"), ("NVIDIA RTX A6000", "A6000"),
        ("NVIDIA GeForce RTX 4090", "RTX4090"), ("GeForce-RTX-5090", "RTX5090"), ("NVIDIA GeForce RTX 4090 D", "RTX4090D"),
        ("NVIDIA GeForce GTX 1080 Ti", "GTX1080Ti"), ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX-PRO-6000"),
        ("AMD Instinct MI300X", "MI300X"), ("AMD-Instinct-MI300X-OAM", "MI300X"), ("Ascend910B4", "910B"), ("910C", "910C"),
        ("NVIDIA TITAN RTX", "TITAN-RTX"), ("H100", "H100"), ("GPU", "GPU"), ("", "GPU"), ("5090 (bad)", "GPU-5090-bad"),
    ],
)  # fmt: skip
def test_every_name_has_one_model(name: str, model: str) -> None:
    assert model_of(name) == model
    assert model_of(model) == model


def test_the_memory_of_a_name_is_that_of_the_accelerator() -> None:
    assert stated_memory("Tesla V100-SXM2-16GB") == 16 * 1024
    assert stated_memory("NVIDIA H100 NVL") == 94 * 1024
    assert stated_memory("NVIDIA GH200 480GB") is None  # that of its processor
    assert stated_memory("NVIDIA H200") is None


def test_models_are_the_same_if_they_may_be() -> None:
    assert same_model("NV_GPU:H100", "NVIDIA H100 80GB HBM3")
    assert same_model("A100-40GB", "A100")  # Ray calls both so; their memory tells them apart
    assert same_model("4090", "RTX4090") and same_model("GPU", "H100")
    assert not same_model("H100", "H200")
