"""Why a question of planning has no answer at all, with changes of which each was searched."""
