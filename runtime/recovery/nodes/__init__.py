"""The nodes of a launch over its life: which is which, which are there, which have joined, and what of them others hold."""
