"""Answers of the planner, recorded before it was rebuilt, and what later code is held against.

`python -m tests.planner_oracle.record` answers all inputs of questions.py and writes answers.json.gz;
`python -m tests.planner_oracle.compare` answers them again and ends with 1 where an answer is wrong.
"""
