"""RLinf's placement strategies, without RLinf: under the names of its documentation, and under older ones."""

import placewright as pw

strategy = pw.PackedPlacementStrategy(start_accelerator_id=0, end_accelerator_id=7, num_accelerators_per_process=2, stride=2)
for placement in strategy.get_placement("2x4xH100"):
    print(placement.rank, placement.node_id, placement.visible_accelerators)

older = pw.PackedPlacementStrategy(start_gpu_id=0, end_gpu_id=7, num_gpus_per_process=2, stride=2)
print(older == strategy, older.get_placement(num_gpus_per_node=4)[3].cuda_visible_devices)
