"""A ROLL configuration, launched as it is: the processes of each role where its `device_mapping` says, called all together.

`address="HOST:PORT"` instead of `simulate=True` names a real Ray cluster.
"""

import os
from pathlib import Path

import placewright as pw

CONFIGURATION = Path(__file__).with_name("small.yaml")


class Worker:
    """One process of a role; like ROLL's, it reads from its environment who it is."""

    def __init__(self) -> None:
        self.role = os.environ["GROUP_NAME"]
        self.rank = int(os.environ["RANK"])
        self.steps = 0

    def generate(self, prompt: str) -> str:
        """The prompt, answered by this rank."""
        return f"{prompt} -> {self.role} {self.rank} on node {os.environ['CLUSTER_NODE_RANK']}, sees {os.environ['CUDA_VISIBLE_DEVICES']}"

    def train_step(self, answers: list[str]) -> int:
        """How many answers it has learned from."""
        self.steps += len(answers)
        return self.steps


def main() -> None:
    """One step on four accelerators of two nodes."""
    with pw.launch(CONFIGURATION, cluster="2x2xH100", simulate=True, worker=Worker) as running:
        train, infer = running.groups["actor_train"], running.groups["actor_infer"]
        answers = infer.generate("2 + 2 =")
        print(*answers, sep="\n")
        print("learned from", train.train_step(answers))


if __name__ == "__main__":
    main()
