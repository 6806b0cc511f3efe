"""Plans by time: counts, degrees, sharing and pipeline structure, chosen before anything is placed.

Read the files in this order.

1. `problem.py` turns a Problem into a PlanningProblem: tasks in the order of the workflow, options of each component (`profile.py`:
   count, degrees, time by `times.py`, memory by `memory.py`), kinds of accelerators and their capacity (`capacity.py`), who may share,
   all within a scope (`scope.py`).
2. `search/` finds the cheapest Design. A structure (`search/structures.py`) is a set partition (Balas and Padberg 1976), or a forest
   where nesting is in scope, of the components onto blocks of accelerators, with a cut of the iteration into segments.
   `search/search.py` takes arrangements (bounded by `search/bounds.py`) and their structures best first,
   `search/branching.py` divides the counts of one: a multiple-choice knapsack over blocks (Kellerer, Pferschy and Pisinger 2004,
   chapter 11) with maxima. Bounds remove choices that cannot be in a cheaper design (Savelsbergh 1994, as reduced costs would). No
   solver is needed for that.
3. `costs.py` names the cost models: how long an iteration of a Design takes, by arithmetic and as sums of maxima for the search.
4. `benders.py` places the Design by `solver/` (`placing.py`) or learns a no-good from the failure: logic-based Benders decomposition
   (Hooker and Ottosson 2003), so that the proof covers counts and places.
5. `check.py` prices every Design again, apart from the search; a lower bound is recomputed in whole numbers before it is claimed.
6. `plan.py` is steps 1 to 5 for one problem; `policies.py` asks it for several variants;
   `answer.py` is the front door, and `write_back.py` writes plans into the user's file and verifies it.
7. `accounting.py` says what is worth knowing of a plan: `bills.py`, `baseline.py`, `sensitivity.py`; `why/` says why
   there is none.

Out of scope are given ranks on several kinds of accelerators, and given ranks that overlap in part. Without times `solver/choosing/`
is all.
"""
