"""The placement that a file itself states, or a part of it, under the same cost model as the plan."""
