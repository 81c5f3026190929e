from __future__ import annotations
from dataclasses import dataclass
@dataclass(frozen=True)
class P:
    v: int
def solve(x: int) -> int:
    return P(3 * x + 1).v
