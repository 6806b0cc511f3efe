"""What is decided before any count: who shares with whom, who lies inside whom, and what runs at the same time."""
