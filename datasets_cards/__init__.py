"""One card per data set: how a row becomes a `Sample`, and which reward judges it.

from datasets_cards import load, names
names()                                    # ['arithmetic', 'countdown', 'gsm8k', ...]
load("gsm8k", "train")                     # from the Hub
load("gsm8k", source="samples")            # a handful of rows written by us, no network
load("arithmetic", "heldout", limit=256)   # generated
"""

from datasets_cards.card import Card, CardError, Reader
from datasets_cards.loading import (
    DatasetUnavailable,
    Loaded,
    UnknownCard,
    Unusable,
    card,
    load,
    names,
    read_rows,
    sample_rows,
)
from datasets_cards.readers import UnusableRow

__all__ = [
    "Card",
    "CardError",
    "DatasetUnavailable",
    "Loaded",
    "Reader",
    "UnknownCard",
    "Unusable",
    "UnusableRow",
    "card",
    "load",
    "names",
    "read_rows",
    "sample_rows",
]
