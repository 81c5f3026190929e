"""`latex` and `tokens`: what a text is read as, that all of it is read, and that no text can hurt."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards.math_equivalence.compare import show
from rewards.math_equivalence.latex import parse
from rewards.math_equivalence.tokens import fold_unicode, is_word, tokens
from rewards.math_equivalence.tree import MAX_CHARS, MAX_DEPTH, Node, Problem


def shown(text: str) -> str:
    return show(parse(text))


READ = [
    # text, reading, why
    (r"\frac12", "1/2", "one digit each without braces"),
    (r"\frac 1 2", "1/2", "spaces between the digits"),
    (r"\dfrac{-3}{4}", "-3/4", "sizes do not matter"),
    (r"\sqrt2", "root(2, 2)", "one digit without braces"),
    (r"\sqrt 13", "root(13, 2)", "whoever forgets the braces means all digits"),
    (r"\sqrt[3]{8}", "root(8, 3)", "an index"),
    ("3½", "7/2", "a unicode fraction after a whole number"),
    (r"2\frac{1}{3}", "7/3", "a mixed number"),
    ("2 1/2", "5/2", "a mixed number in plain text"),
    (r"2\cdot\frac{1}{3}", "2/3", "a product is no mixed number"),
    ("1,234", "1234", "thousands"),
    ("(1,000, 2)", "tuple(1000, 2)", "tight commas are thousands where spaced ones part the values"),
    ("(312,123,231)", "tuple(312, 123, 231)", "inside brackets a comma parts"),
    (r"12,\!345", "12345", "TeX's thin comma"),
    ("0,75", "list(0, 75)", "a decimal comma is another reading, tried by the comparison"),
    ("3{,}5", "3.5", "a comma in braces before other than three digits is decimal"),
    (r"0.1\overline{6}", "1/6", "repeating digits"),
    (r"\{x \mid 1\le x\le 3\}", "build(x, 1 <= x <= 3)", "a set builder"),
    ("[2,5[", "interval[2, 5)", "French brackets"),
    ("(-∞, 3]", "interval(-infty, 3]", "unicode infinity"),
    ("204_5", "204 in base 5", "a number in a base"),
    ("2A_{16}", "2A in base 16", "letters as digits"),
    ("^{10}C_3", "120", "a binomial with its top in front"),
    ("C_n^3", "binom(n, 3)", "a binomial, as written in Russia and China"),
    ("k(d-k)!", "k*fact(d + -k)", "the factorial binds to the brackets"),
    (r"\sin^2 x", "sin(x)^2", "a power between name and argument"),
    (r"\sin^{-1} x", "arcsin(x)", "an inverse, not a reciprocal"),
    (r"\log_2 8", "log(8, 2)", "a base"),
    (r"9.8 \mathrm{~m} / \mathrm{s}^{2}", "9.8 [m / s ^2]", "a compound unit"),
    ("4:30 p.m.", "time 16:30", "a clock time"),
    ("3:4:5", "ratio(3, 4, 5)", "a ratio"),
    (r"22^\circ 30'", "deg(45/2)", "minutes of arc"),
    (r"\cotx", "cot(x)", "a command glued to its argument"),
    (r"\\frac{1}{2}", "1/2", "backslashes doubled by JSON"),
    (r"\{0\} \cup [1,2)", "union(set(0), interval[1, 2))", "sets joined"),
    (r"x=1 \text{ or } x=2", "list(x = 1, x = 2)", "a word joins"),
    (r"n \equiv 3 \pmod{7}", "cong(n, 3, 7)", "a residue class"),
    (r"\text{(A) } 12", "choice A(12)", "an option with its content"),
    (r"\begin{pmatrix}1&2\\3&4\\\end{pmatrix}", "matrix(1, 2; 3, 4)", "a last row break is empty"),
    ("six", "6", "a number word"),
    (r"\text{Evelyn}", "text 'evelyn'", "a word"),
    ("6 4 0", "seq(6, 4, 0)", "numbers with nothing between"),
    ("9 500", "9500", "a space before exactly three digits parts thousands"),
    ("6.02E23", "602000000000000000000000", "an exponent"),
    (r"\text{no solution}", "empty", "the empty set in words"),
    (r"1+2+3", "6", "arithmetic is done exactly"),
    ("５", "5", "full-width digits"),
    ("٣", "3", "other scripts' digits"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reading", "why"), READ, ids=[row[0] for row in READ])
def test_a_text_is_read_as_a_person_reads_it(text: str, reading: str, why: str) -> None:
    """Each row is one way of writing and the tree it stands for."""
    assert shown(text) == reading, why


UNREADABLE = [
    r"\frac{}{}", r"\sqrt", r"\left(", "(", "^^^", "___", "5 +", "x -", r"\begin{pmatrix}", "%", "&", "{@x}",
    "x^", "5_", r"\frac{1}", "<>", "1.2.3.4.5", "))((", "=",
]  # fmt: skip


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_cannot_be_read_is_a_problem_and_never_a_shorter_answer(text: str) -> None:
    """A parser that stops early pays the first term of a sum for the whole."""
    with pytest.raises(Problem) as caught:
        parse(text)
    assert caught.value.code in ("unreadable", "empty")


@given(
    st.sampled_from([r"\frac{1}{2}", "x+3", r"2\sqrt{3}", "(1,2)", r"\{1,2\}", "x=3", "[0,1)", "7"]),
    st.sampled_from(["+1", "-x", r"\cdot 2", "^2", ",5", r"\text{ or } 9", "=8", "%", r"\cup\{9\}", "<4", r"\sqrt{5}"]),
)
def test_a_tail_changes_the_reading_or_makes_it_unreadable(text: str, tail: str) -> None:
    """Nothing after an expression is dropped: 'x -' is not 'x'."""
    before = parse(text)
    try:
        after = parse(text + tail)
    except Problem:
        return
    assert after != before


@given(st.text(max_size=120))
@settings(max_examples=400, deadline=None)
def test_any_text_is_read_or_refused_with_a_problem(text: str) -> None:
    """No other exception leaves the parser, whatever a model writes."""
    try:
        node = parse(text)
    except Problem as problem:
        assert problem.code in ("unreadable", "empty", "over_limit")
    else:
        assert isinstance(node, Node)


_PIECES = st.lists(
    st.sampled_from(
        [
            "1", "23", "x", "y", "n", "+", "-", r"\cdot", "/", "^", "_", "{", "}", "(", ")", "[", "]", ",", ";", "=",
            "<",
            r"\le", r"\frac", r"\sqrt", r"\sin", r"\log", r"\pi", r"\{", r"\}", "|", "!", "%", r"\text{ or }", r"\cup",
            r"\pm", " ", r"\,", ".", ":", r"\infty", r"\circ", "'", "$", r"\binom", r"\sum", r"\begin{pmatrix}", "&",
            r"\\", r"\end{pmatrix}", r"\left", r"\right", r"\in", r"\mathbb{R}", "and", "for all", "cm", r"\overline",
            r"\pmod", "A", "(B)", r"\ldots", r"\to", r"\text{", "²", "½", "∞", "1e5", "C", "^\\circ",
        ]
    ),
    max_size=24,
)  # fmt: skip


@given(_PIECES)
@settings(max_examples=1500, deadline=None)
def test_any_sequence_of_pieces_is_read_or_refused_with_a_problem(pieces: list[str]) -> None:
    """Grammar fuzzing: pieces of real answers in any order."""
    for text in ("".join(pieces), " ".join(pieces)):
        for comma in ("auto", "list", "thousands", "decimal"):
            try:
                parse(text, comma)
            except Problem as problem:
                assert problem.code in ("unreadable", "empty", "over_limit")


@pytest.mark.parametrize(
    "wrap",
    [
        lambda n: "{" * n + "5" + "}" * n,
        lambda n: "(" * n + "5" + ")" * n,
        lambda n: r"\left(" * n + "5" + r"\right)" * n,
    ],
)
def test_redundant_brackets_of_any_depth_cost_no_stack(wrap: Callable[[int], str]) -> None:
    """Thousands of brackets around a number are that number; the Python stack does not notice."""
    assert parse(wrap(500)) == Node("num", (), 5)


def test_a_continued_fraction_deeper_than_the_stack_is_read() -> None:
    """Two hundred nested fractions fold into one number while they are read."""
    text = r"\frac{1}{" * 200 + "1" + "}" * 200
    assert parse(text) == Node("num", (), 1)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 10_000, "(" * 10_000, r"\sqrt{" * 1000 + "x" + "}" * 1000, "x^{" * 1000 + "2" + "}" * 1000, "9" * 5000,
        "1" * (MAX_CHARS + 1), "1e99999999999999",
    ],
)  # fmt: skip
def test_crossing_a_cap_is_over_limit(text: str) -> None:
    """Depth, digits and length are bounded; the caps are named in `tree`."""
    with pytest.raises(Problem) as caught:
        parse(text)
    assert caught.value.code == "over_limit"


def test_no_tree_is_deeper_than_its_cap() -> None:
    """What lies just under the caps stays shallow enough for every recursive walk over it."""
    for size in (20, 60, 120, 150, 170, 300):
        try:
            node = parse(r"\sqrt{1+" * size + "x" + "}" * size)
        except Problem as problem:
            assert problem.code == "over_limit"
            continue
        depth, level = 0, [node]
        while level:
            depth += 1
            level = [c for n in level for c in n.args]
        assert depth <= MAX_DEPTH + 1


def _seconds(work: Callable[[], object]) -> float:
    best = 1e9
    for _ in range(4):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


GROWING: dict[str, Callable[[int], str]] = {
    "sum": lambda n: "+".join(["1"] * (n // 2)),
    "letters": lambda n: "xy " * (n // 3),
    "groups": lambda n: "(x+1)" * (n // 5),
    "brackets": lambda n: "(" * (n // 2) + "5" + ")" * (n // 2),
    "fractions": lambda n: r"\frac{1}{" * (n // 10) + "1" + "}" * (n // 10),
    "list": lambda n: ",".join(["7"] * min(n // 2, 600)) + "+1" * (n // 4),
    "words": lambda n: "word " * (n // 5),
    "signs": lambda n: "-" * n + "5",
    "spaces": lambda n: "5" + " " * n,
    "bars": lambda n: "|x" * (n // 2),
    "open": lambda n: "{" * n,
    "powers": lambda n: "x" + "^2" * (n // 2),
    "commas": lambda n: "," * n,
}


@pytest.mark.parametrize("name", GROWING)
def test_twice_the_text_costs_about_twice_the_time(name: str) -> None:
    """Linear: the quadratic ways of doing this are seen at five thousand characters."""

    def run(size: int) -> None:
        try:
            parse(GROWING[name](size))
        except Problem:
            pass

    small = large = 1e9
    # A neighbour on the same core only ever adds, and to either: the least of several rounds, the two taken in turn.
    for _ in range(6):
        small, large = min(small, _seconds(lambda: run(5_000))), min(large, _seconds(lambda: run(10_000)))
        if large <= 2.6 * max(small, 0.0005):
            break
    assert large <= 2.6 * max(small, 0.0005), f"{small * 1e3:.2f} ms, then {large * 1e3:.2f} ms"


def test_words_are_told_from_products_of_letters() -> None:
    """`cat` is a word and `xyz` is not; the lists behind this are in `vocabulary`."""
    assert all(map(is_word, ["cat", "even", "ellipse", "odd", "Evelyn", "hours"]))
    assert not any(map(is_word, ["xyz", "abc", "ab", "n", "pi", "sin", "xy", "NO"]))


def test_unicode_is_spelt_in_latex_once_and_in_linear_time() -> None:
    """Superscripts group, signs map, and plain text is returned as it is."""
    assert fold_unicode("x¹⁰−½") == r"x^{10}-\frac{1}{2}"
    plain = "x" * 10
    assert fold_unicode(plain) is plain


def test_currency_is_told_from_a_math_delimiter() -> None:
    """An odd dollar sign before a digit is money; pairs are delimiters."""
    assert parse("$12.55") == Node("money", (parse("12.55"),), "$")
    assert parse("$12.55$") == parse("12.55")
    assert [t.kind for t in tokens(r"\$5")] == ["m", "n"]


def test_numbers_are_exact() -> None:
    """No float anywhere: 0.1 is one tenth."""
    assert parse("0.1").value.value == Fraction(1, 10)
    assert parse(r"1.6\times10^{-19}").value == Fraction(16, 10**20)
