"""What the study of RLHF jobs shares: their models, another way to plan them, and what is measured of one."""
