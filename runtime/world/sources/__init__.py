"""Sources of machines besides Ray: texts of nvidia-smi, the environment of Slurm."""
