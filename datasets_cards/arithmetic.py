"""The generated data set `arithmetic`: sums such as `47+58=?`, with a held-out split that training never sees.

Deterministic: the same arguments give the same rows on every machine and Python version. Which split a
question belongs to is a hash of its two numbers without their order, so `58+47` never teaches `47+58`.
(A linear rule such as `(7919*a + 104729*b) % 8 == 3` looks random and is not: it holds out exactly the
pairs with `b - a = 3 (mod 8)`, another distribution than the one trained on, and it splits `a+b` from `b+a`.)
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from typing import Final, Literal

from rewards.registry import nearest

Split = Literal["train", "heldout"]
SPLITS: Final[tuple[Split, ...]] = ("train", "heldout")
HELD_OUT_SHARE: Final = 1 / 8
MAX_DIGITS: Final = 9
_ENUMERATED_DIGITS: Final = 2


def is_held_out(a: int, b: int) -> bool:
    """True for the one eighth of all pairs that belong to `heldout`; the same for `(a, b)` and `(b, a)`."""
    low, high = sorted((a, b))
    digest = hashlib.blake2b(f"{low}+{high}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < int(HELD_OUT_SHARE * 2**64)


def rows(split: Split = "train", n: int = 1000, seed: int = 0, *, digits: int = 2) -> Iterator[dict[str, str]]:
    """`n` rows `{"prompt": "47+58=?", "answer": "105"}`, no question twice until every one has been given.

    Args:
        split: "train", or "heldout" (no question of which, in either order, is ever in "train").
        n: number of rows. `heldout` gives distinct questions only; `train` starts a new pass when it runs out.
        seed: another seed is another order (and, for small `n`, other questions) of the same split.
        digits: digits of each of the two numbers; without a leading zero, so 1 means 1 to 9.

    Raises:
        ValueError: an unknown split, an impossible `n` or `digits`, or more held-out rows than there are.
    """
    if split not in SPLITS:
        raise ValueError(f"arithmetic has no split {split!r}{nearest(str(split), SPLITS)}; allowed: train, heldout")
    if n < 0:
        raise ValueError(f"arithmetic: n={n}; give a number of rows, 0 or more")
    if not 1 <= digits <= MAX_DIGITS:
        raise ValueError(f"arithmetic: digits={digits}; allowed: 1 to {MAX_DIGITS}")
    return _rows(split, n, seed, digits)


def _rows(split: Split, n: int, seed: int, digits: int) -> Iterator[dict[str, str]]:
    # A string seed goes through SHA-512 inside `random`, which is the same on every platform.
    rng = random.Random(f"arithmetic/{split}/{digits}/{seed}")
    pairs = _enumerated(split, n, digits, rng) if digits <= _ENUMERATED_DIGITS else _drawn(split, n, digits, rng)
    for a, b in pairs:
        yield {"prompt": f"{a}+{b}=?", "answer": str(a + b)}


def _enumerated(split: Split, n: int, digits: int, rng: random.Random) -> Iterator[tuple[int, int]]:
    numbers = range(10 ** (digits - 1), 10**digits)
    held = split == "heldout"
    pairs = [(a, b) for a in numbers for b in numbers if is_held_out(a, b) == held]
    if held and n > len(pairs):
        raise ValueError(
            f"arithmetic: heldout with digits={digits} has {len(pairs)} questions, {n} were asked for; "
            "ask for fewer rows or more digits"
        )
    left = n
    while left > 0:
        rng.shuffle(pairs)
        yield from pairs[:left]
        left -= len(pairs)


def _drawn(split: Split, n: int, digits: int, rng: random.Random) -> Iterator[tuple[int, int]]:
    low, high = 10 ** (digits - 1), 10**digits - 1
    held = split == "heldout"
    # Rejection sampling stays quick while at most half of the split is taken.
    most = int((high - low + 1) ** 2 * (HELD_OUT_SHARE if held else 1 - HELD_OUT_SHARE) / 2)
    if n > most:
        raise ValueError(f"arithmetic: {split} with digits={digits} gives at most {most} rows, {n} were asked for")
    seen: set[tuple[int, int]] = set()
    while len(seen) < n:
        pair = (rng.randint(low, high), rng.randint(low, high))
        if pair not in seen and is_held_out(*pair) == held:
            seen.add(pair)
            yield pair
