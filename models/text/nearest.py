"""Known names nearest to a misspelt name."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Iterable

MAX_COMPARED = 64
"""Largest number of known names compared with a wrong name."""


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the known name that was probably meant, or None."""
    return _nearest(name, tuple(islice(candidates, MAX_COMPARED)))


@lru_cache(maxsize=4096)
def _nearest(name: str, candidates: tuple[str, ...]) -> str | None:
    """Return the name from a cache: a file is read many times."""
    from difflib import get_close_matches

    by_lower_case = {candidate.lower(): candidate for candidate in candidates}
    matches = get_close_matches(name.lower(), list(by_lower_case), n=1, cutoff=0.7)
    return by_lower_case[matches[0]] if matches else None


SLIP = 2
"""Largest number of different letters in a name of some length that was probably mistyped."""
WORD = 2
"""Distance, in letters, of a whole word too many or too few in a name."""


def closest(name: str, candidates: Iterable[str], most: int | None = None) -> str | None:
    """Return the known name at the smallest distance, or None beyond `most` letters.

    Of equally distant names the one of the nearest length is returned. Names of all lengths are
    compared, also those that are set already. By default, a third of the letters may differ.
    """
    limit = len(name) // 3 if most is None else most
    best: str | None = None
    for candidate in candidates:
        letters = distance(name, candidate, limit)
        is_nearer = letters < limit or (letters == limit and (best is None or _excess(name, candidate) < _excess(name, best)))
        if is_nearer and not _is_another(name, candidate, letters):
            best, limit = candidate, letters
    return best


def _excess(name: str, candidate: str) -> int:
    return abs(len(candidate) - len(name))


def _is_another(name: str, candidate: str, letters: int) -> bool:
    """Return True if a name has words of its own, not misspelt ones."""
    words, candidate_words = name.lower().split("_"), candidate.lower().split("_")
    words_apart = [word for word in words if word not in candidate_words]
    return (
        letters > SLIP
        and len(words) > 1
        and bool(words_apart)
        and (2 * letters > len("".join(words_apart)) or 2 * len(words_apart) > len(words))
    )


@lru_cache(maxsize=16384)
def distance(first: str, second: str, limit: int = 64) -> int:
    """Count edits of letters, or WORD for a word, between names; over `limit` if far."""
    if first == second:
        return 0
    lower, upper = first.lower(), second.lower()
    letters = _letters(lower, upper, limit) if abs(len(lower) - len(upper)) <= limit else limit + 1
    if "_" not in lower and "_" not in upper:
        return letters
    return min(letters, _words(lower.split("_"), upper.split("_"), limit))


def _words(first: list[str], second: list[str], limit: int) -> int:
    """Compute the distance word by word: words are added, left out or moved, but not replaced."""
    if abs(len(first) - len(second)) * WORD > limit:
        return limit + 1
    same_words = sorted(first) == sorted(second)
    less = WORD if same_words or len(first) > len(second) else limit + 1
    more = WORD if same_words or len(first) < len(second) else limit + 1
    above = [more * place for place in range(len(second) + 1)]
    for row, word in enumerate(first, 1):
        costs = [less * row]
        for column, target in enumerate(second, 1):
            same = 0 if word == target else _letters(word, target, limit)
            costs.append(min(above[column] + less, costs[-1] + more, above[column - 1] + same))
        above = costs
    return above[-1]


def _letters(first: str, second: str, limit: int) -> int:
    """Compute the distance letter by letter (optimal string alignment)."""
    older: list[int] = []
    above = list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        costs = [row]
        for column, target in enumerate(second, 1):
            best = min(above[column] + 1, costs[-1] + 1, above[column - 1] + (letter != target))
            if older and column > 1 and letter == second[column - 2] and first[row - 2] == target:
                best = min(best, older[column - 2] + 1)
            costs.append(best)
        if min(costs) > limit:
            return limit + 1
        older, above = above, costs
    return above[-1]
