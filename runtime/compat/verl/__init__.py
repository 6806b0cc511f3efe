"""verl's interface for pools and groups of workers, on our reservations and workers.

Source of names and behaviour: verl, verl/single_controller. Code of verl's users runs with another
import, and worker classes that verl itself decorated run unchanged. Intended differences:

- one placement group holds all parts of a pool, pinned to their nodes, so
  `get_placement_groups` gives one;
- a group's constructor returns when all workers are constructed, or fails;
- uneven pools such as ``[4, 2]`` have the ranks that they say;
- requests on which Ray would wait forever are refused within a second: shortages, and devices
  that no node has, such as ``cpu``;
- actor options without effect are refused, instead of overwritten; a worker takes a slot for
  each of its `num_cpus`;
- a mesh that is registered twice is a ValueError in `set_dispatch_collect` too, where verl asserts;
- fused classes, merged pools, detached groups, modes of the user's own, and the thread that aborts
  the program after a death are left out: no program of verl's releases uses them. `dispatch_mode`
  takes a pair of functions, and a failed call raises LaunchFailed with the worker's exception as cause;
- padding is cut from batches, also from pending ones, and never from lists of one answer a worker.
"""
