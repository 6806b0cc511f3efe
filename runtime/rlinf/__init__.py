"""RLinf's words: a cluster that is held once, and worker groups that are launched on it by a placement strategy."""
