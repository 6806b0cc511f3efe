"""Interface of the runtime to Ray: the only door to the cluster."""
