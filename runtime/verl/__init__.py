"""verl's words for pools and groups of workers, on our reservations and workers. Source of names and behaviour: verl, verl/single_controller.

Code of verl's users runs with another import, and classes of workers that verl itself decorated run as they are. On purpose
these differ:

- one placement group holds all parts of a pool, pinned to their nodes, so `get_placement_groups` gives one;
- a group is there, or has failed, when its constructor returns; uneven pools such as ``[4, 2]`` have the ranks that they say;
- what Ray would wait for without an end is refused within a second: shortages, devices that no node has, such as ``cpu``;
- options of actors that nothing would follow are refused, instead of overwritten; a worker takes a slot for each of its `num_cpus`;
- a mesh that is registered twice is a ValueError in `set_dispatch_collect` too, where verl asserts;
- what padding added is cut from batches, also from those that are not there yet, and never from lists of one answer a worker.
"""
