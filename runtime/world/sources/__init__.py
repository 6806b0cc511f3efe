"""What tells of machines besides Ray: the texts of nvidia-smi, the environment of Slurm."""
