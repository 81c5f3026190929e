r"""Where the final answer stands in a completion: one scan, positions kept, nothing evaluated.

    >>> find_answer(r"So $x = \boxed{\frac12}$.").text
    '\\frac12'

What counts, from the strongest statement to the weakest:

1. the last complete `\boxed{...}` or `\fbox{...}`, the last `<answer>...</answer>`, the last `#### ...` line, or
   "final answer: ..." followed at once by mathematics: whichever of them comes last;
2. "the answer is ..." and its like in English, Chinese, Japanese, Spanish, French, German, Russian, ...;
3. the closing sentence: what stands behind its last "is" or "=", else its last number.

`where="boxed"` stops after boxes and tags, `where="stated"` after 2, `where="anywhere"` (the default) takes all three.

What never counts: text inside a think block, open or closed, and text before a bare `</think>`; an earlier box when
the last one is unfinished (`truncated`: a model that is cut off must not be paid for its draft); the echo of the
prompt's template (`\boxed{answer}`, `\boxed{...}`, or a box that the prompt itself shows); anything behind an
end-of-turn token; what is denied ("not `\boxed{6}`", "Is it `\boxed{5}`? No."), taken back ("that is wrong") or only
supposed; a check, a reason, an aside in brackets, a question or an offer of help behind the answer. Boxes that stand
together as one statement (`\boxed{-2}` and `\boxed{1}`) are one answer of several parts, so hedging between boxes is
compared as the list that it is.

Cost: every search moves in one direction and looks at a bounded stretch around each hit, so twice the text takes
about twice the time. The only regular expressions are tokenizers over single characters; none can backtrack.
"""

from rewards.answers.boxes import part_boxes
from rewards.answers.find import find_answer
from rewards.answers.golds import GoldTypeError, gold_texts, number_text
from rewards.answers.spans import Answer, Span, Where

__all__ = ["Answer", "GoldTypeError", "Span", "Where", "find_answer", "gold_texts", "number_text", "part_boxes"]
