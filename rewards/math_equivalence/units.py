"""Units that stand after a number: a small table of factors to a base unit, and what counts as the same unit.

Own table, because importing `pint` takes longer than judging ten thousand answers. A unit is a product of powers of
base dimensions and a factor; words that are in no table ("apples") are a unit without dimension that agrees with any.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple


class Unit(NamedTuple):
    """A unit as written.

    Attributes:
        kind: `unit` (known dimension), `word` (no known dimension), `scale` (million), `percent`, `degree`, `money`.
        text: the words, lower case, or the currency sign.
        factor: how many base units it is.
        dimension: sorted ((base, power), ...).
    """

    kind: str
    text: str
    factor: Fraction
    dimension: tuple[tuple[str, int], ...]


_F = Fraction
_BASE: Final[dict[str, tuple[str, Fraction]]] = {}


def _add(base: str, factor: Fraction | int, names: str) -> None:
    for name in names.split():
        _BASE[name] = (base, _F(factor))


_add("m", 1, "m meter meters metre metres")
_add("m", 1000, "km kilometer kilometers kilometre kilometres kms")
_add("m", _F(1, 100), "cm centimeter centimeters centimetre centimetres cms")
_add("m", _F(1, 1000), "mm millimeter millimeters millimetre millimetres")
_add("m", _F(1, 10), "dm decimeter decimeters decimetre decimetres")
_add("m", _F(1, 10**6), "micrometer micrometers micron microns um")
_add("s", _F(1, 10**6), "us microsecond microseconds")
_add("g", _F(1, 10**6), "ug microgram micrograms")
_add("L", _F(1, 10**6), "uL ul microliter microliters")
_add("m", _F(1, 10**9), "nm nanometer nanometers")
_add("m", _F(254, 10000), "inch inches")
_add("m", _F(3048, 10000), "ft foot feet")
_add("m", _F(9144, 10000), "yd yard yards yds")
_add("m", _F(1609344, 1000), "mi mile miles")
_add("s", 1, "s sec secs second seconds")
_add("s", 60, "min mins minute minutes")
_add("s", 3600, "h hr hrs hour hours")
_add("s", 86400, "day days")
_add("s", 604800, "week weeks wk wks")
_add("month", 1, "month months")
_add("month", 12, "year years yr yrs")
_add("s", _F(1, 1000), "ms millisecond milliseconds")
_add("g", 1, "g gram grams gm gms")
_add("g", 1000, "kg kilogram kilograms kgs kilo kilos")
_add("g", _F(1, 1000), "mg milligram milligrams")
_add("g", 10**6, "tonne tonnes")
_add("g", _F(45359237, 100000), "lb lbs pound pounds")
_add("g", _F(45359237, 1600000), "oz ounce ounces")
_add("L", 1, "L l liter liters litre litres")
_add("L", _F(1, 1000), "mL ml milliliter milliliters millilitre millilitres")
_add("L", _F(1, 100), "cL cl centiliter centiliters")
_add("gal", 1, "gallon gallons gal")
_add("gal", _F(1, 4), "quart quarts qt")
_add("gal", _F(1, 8), "pint pints pt")
_add("gal", _F(1, 16), "cup cups")
_add("K", 1, "K kelvin kelvins")
_add("degC", 1, "degC celsius")
_add("Fahrenheit", 1, "degF fahrenheit")
_add("mol", 1, "mol mole moles")
_add("mol", _F(1, 1000), "mmol")
_add("cal", 1, "cal")
_add("cal", 1000, "kcal")
_add("J", _F(1602176634, 10**28), "eV electronvolt electronvolts")
_add("J", _F(1602176634, 10**25), "keV")
_add("J", _F(1602176634, 10**22), "MeV")
_add("J", _F(1602176634, 10**19), "GeV")
_add("Pa", 101325, "atm atmosphere atmospheres")
_add("Pa", 10**5, "bar bars")
_add("s", _F(1, 10**9), "ns nanosecond nanoseconds")
for _bytes in ("kB", "MB", "GB", "TB"):
    _add(_bytes, 1, _bytes)  # 1000 or 1024 of the next smaller: whose, nobody says
_PREFIXES: Final = (
    ("", "", _F(1)), ("n", "nano", _F(1, 10**9)), ("u", "micro", _F(1, 10**6)), ("m", "milli", _F(1, 1000)),
    ("k", "kilo", _F(1000)), ("M", "mega", _F(10**6)), ("G", "giga", _F(10**9)),
)  # fmt: skip
_NAMED_SI: Final = (
    ("A", "ampere amp"), ("V", "volt"), ("W", "watt"), ("J", "joule"), ("N", "newton"), ("Pa", "pascal"),
    ("Hz", "hertz"), ("ohm", "ohm"), ("C", "coulomb"), ("F", "farad"), ("H", "henry"), ("T", "tesla"),
)  # fmt: skip
for _symbol, _names in _NAMED_SI:
    for _short, _long, _factor in _PREFIXES:
        _add(_symbol, _factor, _short + _symbol)
        for _name in _names.split():
            _add(_symbol, _factor, f"{_long}{_name} {_long}{_name}s")
_add("bit", 1, "bit bits")
_add("rad", 1, "rad rads radian radians")

_DERIVED: Final[dict[str, tuple[Fraction, tuple[tuple[str, int], ...]]]] = {
    "Hz": (_F(1), (("s", -1),)),
    "N": (_F(1000), (("g", 1), ("m", 1), ("s", -2))),
    "Pa": (_F(1000), (("g", 1), ("m", -1), ("s", -2))),
    "J": (_F(1000), (("g", 1), ("m", 2), ("s", -2))),
    "W": (_F(1000), (("g", 1), ("m", 2), ("s", -3))),
    "V": (_F(1000), (("g", 1), ("m", 2), ("s", -3), ("A", -1))),
    "ohm": (_F(1000), (("g", 1), ("m", 2), ("s", -3), ("A", -2))),
    "C": (_F(1), (("A", 1), ("s", 1))),
    "F": (_F(1, 1000), (("g", -1), ("m", -2), ("s", 4), ("A", 2))),
    "H": (_F(1000), (("g", 1), ("m", 2), ("s", -2), ("A", -2))),
    "T": (_F(1000), (("g", 1), ("s", -2), ("A", -1))),
}
MICRO: Final = frozenset(("m", "s", "g", "L", *(symbol for symbol, _ in _NAMED_SI)))
"""Symbols that `\\mu` may stand before."""
"""SI units by the base units of this table: a newton is 1000 g m / s^2."""
_SPEEDS: Final = {"mph": ("mile", "hour"), "kph": ("km", "hour"), "kmh": ("km", "hour"), "fps": ("foot", "second")}
_MONEY: Final[dict[str, str]] = {
    "dollar": "$", "dollars": "$", "usd": "$", "euro": "€", "euros": "€", "eur": "€", "yen": "¥", "rupee": "₹",
    "rupees": "₹", "rs": "₹", "cent": "¢", "cents": "¢", "pence": "p", "penny": "¢", "pennies": "¢",
    "ruble": "₽", "rubles": "₽",
    "yuan": "元", "rmb": "元", "元": "元", "pesos": "peso", "peso": "peso", "francs": "franc", "franc": "franc",
}  # fmt: skip
_SCALES: Final = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12,
    "hundreds": 100, "thousands": 1000, "billions": 10**9, "dozens": 12,
    "millionen": 10**6, "mio": 10**6, "millions": 10**6, "milliard": 10**9, "milliarden": 10**9, "milliards": 10**9,
    "mille": 1000, "tausend": 1000, "millones": 10**6, "millón": 10**6,
    "тыс": 1000, "тысяч": 1000, "тысячи": 1000, "млн": 10**6, "миллион": 10**6, "миллиона": 10**6, "миллионов": 10**6,
    "млрд": 10**9, "миллиардов": 10**9, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8,
}  # fmt: skip
_PLAIN_SAFE: Final = frozenset(
    (
        "km",
        "cm",
        "mm",
        "dm",
        "kg",
        "mg",
        "ml",
        "mL",
        "cl",
        "km",
        "kms",
        "cms",
        "hr",
        "hrs",
        "min",
        "mins",
        "sec",
        "secs",
        "ft",
        "yd",
        "yds",
        "lb",
        "lbs",
        "oz",
        "mph",
        "kph",
        "kmh",
        "fps",
        "Hz",
        "kHz",
        "MHz",
        "kPa",
        "kJ",
        "kW",
        "kN",
        "mol",
        "rad",
        "gal",
        "yr",
        "yrs",
        "wk",
        "wks",
        "usd",
        "USD",
        "rmb",
        "pct",
        "deg",
        "sq",
        "MPa",
        "keV",
        "MeV",
        "GeV",
        "kV",
        "mV",
        "mA",
        "atm",
        "mmol",
        "MW",
        "MJ",
        "GHz",
        "MiB",
        "GiB",
        "KiB",
        "kB",
        "MB",
        "GB",
        "TB",
    )
)
"""Short units that are not a product of letters even without `\\text`: `35cm`. A lone `m` is left to be a symbol."""
_GENERIC: Final = frozenset(
    (
        "unit",
        "units",
        "sq",
        "square",
        "cubic",
        "more",
        "less",
        "each",
        "per",
        "a",
        "an",
        "of",
        "the",
        "total",
        "degrees",
        "degree",
        "deg",
        "percent",
        "percentage",
        "pct",
        "people",
    )
)
_JOINED: Final = {
    "平方厘米": ("cm", "^2"),
    "平方米": ("m", "^2"),
    "平方千米": ("km", "^2"),
    "平方分米": ("dm", "^2"),
    "立方厘米": ("cm", "^3"),
    "立方米": ("m", "^3"),
    "立方分米": ("dm", "^3"),
    "厘米": ("cm",),
    "米": ("m",),
    "千米": ("km",),
    "公里": ("km",),
    "毫米": ("mm",),
    "分米": ("dm",),
    "千克": ("kg",),
    "公斤": ("kg",),
    "克": ("g",),
    "吨": ("tonne",),
    "小时": ("h",),
    "分钟": ("min",),
    "秒": ("s",),
    "天": ("day",),
    "升": ("L",),
    "毫升": ("mL",),
    "Nm": ("N", "m"),
    "kWh": ("kW", "h"),
    "Wh": ("W", "h"),
    "Ns": ("N", "s"),
    "Js": ("J", "s"),
}
_SQUARES: Final = frozenset({"square", "sq", "squared"})
_CUBES: Final = frozenset({"cubic", "cu", "cubed"})


def _dimension(powers: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((base, power) for base, power in powers.items() if power))


@lru_cache(maxsize=1024)
def _read(parts: tuple[str, ...]) -> Unit:
    text = " ".join(parts).lower()
    words = [p.lower() for p in parts]
    if words[0] in ("percent", "percentage", "pct", "percents") or words[:2] == ["per", "cent"]:
        return Unit("percent", "%", _F(1), ())
    scale = _SCALES.get(words[0]) or (_SCALES.get(words[0][0]) if words[0][0] in "万萬亿億" else None)  # 万元 too
    if scale is not None:
        return Unit("scale", text, _F(scale), ())
    if words[0] in ("degrees", "degree", "deg") and len(words) == 1:
        return Unit("degree", "°", _F(1), ())
    if words[0] in _MONEY and len(words) == 1:
        return Unit("money", _MONEY[words[0]], _F(1), ())
    powers: dict[str, int] = {}
    factor = _F(1)
    sign = 1
    prefix_power = 0
    last: tuple[str, Fraction] | None = None
    known = True
    for original, word in zip(parts, words, strict=True):
        if word in ("/", "per"):
            sign = -1
            continue
        if word in ("-", "*", "'"):
            continue
        if word.startswith("^"):
            if last is None:
                known = False
                continue
            extra = int(word[1:]) - 1
            powers[last[0]] = powers.get(last[0], 0) + sign * extra
            factor *= last[1] ** (sign * extra)
            continue
        if word in _SQUARES or word in _CUBES:
            power = 2 if word in _SQUARES else 3
            if word.endswith("ed"):
                if last is not None:
                    powers[last[0]] = powers.get(last[0], 0) + sign * (power - 1)
                    factor *= last[1] ** (sign * (power - 1))
            else:
                prefix_power = power
            continue
        if word in _SPEEDS:
            for name, p in zip(_SPEEDS[word], (1, -1), strict=True):
                base, size = _BASE[name]
                powers[base] = powers.get(base, 0) + p
                factor *= size**p
            continue
        entry = _BASE.get(original) or _BASE.get(word)
        if entry is None and word == "in" and len(parts) <= 2:
            entry = _BASE["inch"]
        if entry is None:
            known = False
            last = None
            continue
        power = sign * (prefix_power or 1)
        prefix_power = 0
        powers[entry[0]] = powers.get(entry[0], 0) + power
        factor *= entry[1] ** power
        last = entry
    if not known or not powers:
        return Unit("word", text, _F(1), ())
    for name, (size, parts_of) in _DERIVED.items():
        power = powers.pop(name, 0)
        if power:
            factor *= size**power
            for base, exponent in parts_of:
                powers[base] = powers.get(base, 0) + power * exponent
    if "L" in powers:  # a litre is a cubic decimetre
        power = powers.pop("L")
        powers["m"] = powers.get("m", 0) + 3 * power
        factor *= _F(1, 1000) ** power
    return Unit("unit", text, factor, _dimension(powers))


def read_unit(parts: list[str], *, plain: bool = False) -> Unit | None:
    """The unit that words, `/` and `^n` spell.

    Args:
        parts: what stands after the number, such as `["m", "/", "s", "^2"]`.
        plain: the word is not in `\\text`; only what cannot be a product of letters counts then.
    """
    if not parts or len(parts) > 24:
        return None
    if parts[0] in _JOINED:
        parts = [*_JOINED[parts[0]], *parts[1:]]
    if plain:
        first = parts[0]
        if first in _PLAIN_SAFE or first.lower() in _MONEY or (len(first) > 3 and first.lower() in _GENERIC):
            return _read(tuple(parts))
        if len(first) > 3 and (first.lower() in _BASE or first.lower() in _SCALES):
            return _read(tuple(parts))
        return None
    return _read(tuple(parts))
