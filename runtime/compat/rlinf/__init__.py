"""RLinf's interface, which `placewright.runtime.rlinf` offers: a cluster reserved once, and worker groups on it."""
