"""A program in RLinf's style: two worker groups on the same accelerators, called together, each process just where it belongs.

RLinf's own programs need another import line alone: ``from rlinf.scheduler import Cluster, PackedPlacementStrategy, Worker``.
The cluster here is simulated; `Cluster(address="HOST:PORT")` names a real one.
"""

from placewright.runtime.rlinf import Cluster, FlexiblePlacementStrategy, PackedPlacementStrategy, Worker


class Rollout(Worker):
    """Generates, with tensor parallelism over two accelerators."""

    def generate(self, prompts: list[str]) -> list[str]:
        """Each prompt, answered by this rank."""
        return [f"{prompt} -> rank {self._rank} of {self._world_size} on {','.join(self.visible_accelerators)}" for prompt in prompts]


class Actor(Worker):
    """Trains, one process on each accelerator."""

    def __init__(self, learning_rate: float) -> None:
        super().__init__()
        self.learning_rate = learning_rate
        self.steps = 0

    def train(self, answers: list[str]) -> int:
        """How many steps it has made."""
        self.steps += len(answers)
        return self.steps

    def save(self, path: str) -> str:
        """Where the weights are."""
        return f"{path}/{self.worker_name}"


def main() -> None:
    """One step of training on four accelerators of two nodes."""
    with Cluster(simulate="2x2xH100") as cluster:
        actor = Actor.create_group(1e-5).launch(cluster=cluster, placement_strategy=PackedPlacementStrategy(0, 3), name="actor")
        rollout = Rollout.create_group().launch(
            cluster=cluster, placement_strategy=FlexiblePlacementStrategy([[0, 1], [2, 3]]), name="rollout"
        )
        answers = [answer for each in rollout.generate(["2 + 2 ="]).wait() for answer in each]
        print(*answers, sep="\n")
        print("steps", actor.train(answers).wait())
        print("saved", actor.execute_on(0).save("/checkpoints").wait())


if __name__ == "__main__":
    main()
