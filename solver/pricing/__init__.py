"""What each demand, each machine and each setting costs: the same question with one thing changed, solved again."""
