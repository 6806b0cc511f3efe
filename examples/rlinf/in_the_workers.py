"""What RLinf's workers do besides their work: measure it, ask for the cluster, start and call groups themselves.

As in worker_group.py, RLinf's own programs need another import line alone.
"""

from placewright.runtime.rlinf import Cluster, ComponentPlacement, NodePlacementStrategy, Worker, WorkerGroup

CONFIG = {"cluster": {"num_nodes": 2, "component_placement": {"env": "0-1", "reward": "1"}}}


class Camera(Worker):
    """Started by a worker, on the node of that worker."""

    def picture(self) -> str:
        """Which camera, and where."""
        return f"{self.get_name()} on node {self._cluster_node_rank}"


class Reward(Worker):
    """Called by workers of another group."""

    def score(self, text: str) -> int:
        """A number for a text."""
        return len(text)


class Env(Worker):
    """Steps through a world of its own."""

    @Worker.timer("step")
    def step(self) -> tuple[str, int]:
        """What its camera saw, and the reward for it."""
        here = NodePlacementStrategy([self._cluster_node_rank])
        with Camera.create_group().launch(Cluster(), here, name=f"camera-{self._rank}") as camera:
            seen = camera.picture().wait()[0]
        return seen, WorkerGroup.from_group_name(Reward, "reward").score(seen).wait()[0]


def main() -> None:
    """One step on two accelerators of two nodes."""
    with Cluster(simulate="2x1xH100") as cluster:
        placement = ComponentPlacement(CONFIG, cluster)
        env, _ = (
            cls.create_group().launch(cluster, placement_strategy=placement.get_strategy(name), name=name)
            for name, cls in (("env", Env), ("reward", Reward))
        )
        handle = env.step()
        print(*handle.wait(), sep="\n")
        print("measured", *handle.consume_durations())


if __name__ == "__main__":
    main()
