"""The run report: stands alone, shows what the files say, and nothing that a model wrote can break it."""

from __future__ import annotations

import html.parser
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from grpo_runner import report
from grpo_runner.report import ReportError, Series, chart, escape, ticks

HOSTILE = [
    '<script>document.title="pwned"</script>',
    "<img src=x onerror='document.title=\"pwned\"'>",
    '</pre></article></section><h1 id="pwned">pwned</h1>',
    '"><svg onload=document.title="pwned">',
    "&lt;b&gt; & &amp; &#60;script&#62;",
    "before\x00after \x1b[31mred\x1b[0m \x07",
    "left \u202eright\u202c \u2066isolated\u2069",
    "a lone surrogate \ud83d stands here",
    "<style>body{display:none}</style><link rel=stylesheet href=https://example.com/x.css>",
    "x" * 20_000,
    "",
    "]]>--><!--",
]


def make_run(folder: Path, steps: int = 60) -> Path:
    """The files of a run whose model wrote hostile text."""
    (folder / "completions").mkdir(parents=True)
    rows = []
    for step in range(1, steps + 1):
        done = step / steps
        rows.append(
            {
                "step": step, "reward": 0.4 + done, "reward_std": 0.5 * (1 - done), "flat_groups": 0.5 * done,
                "length": 14 + 10 * done, "truncated": 0.0, "unscored": 0.0, "kl": 0.01 * step,
                "entropy": 0.2 - 0.1 * done,
                "grad_norm": 0.3, "completions_generated": 128, "math/score": done, "format/score": 0.8,
                "flat/right": 0.5 * done, "flat/wrong": 0.0, "flat/unscored": 0.0, "flat/truncated": 0.0,
                "flat/equal": 0.0,
                "seconds/generation": 0.4, "seconds/scoring": 0.1, "seconds/optimisation": 0.5, "seconds/step": 1.0,
            }
        )  # fmt: skip
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    accuracy = {
        "questions": 12,
        "unscored": 0,
        "samples": 4,
        "greedy_interval": [0.1, 0.4],
        "pass_1": 0.3,
        "pass_k": 0.6,
    }
    evaluations = [
        {"step": 0, "when": "before", "greedy": 0.25, **accuracy},
        {"step": steps, "when": "after", "greedy": 0.875, **accuracy, "pass_1": 0.8, "greedy_interval": [0.8, 0.95]},
    ]
    (folder / "evaluations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in evaluations), encoding="utf-8")
    for when, right in (("before", False), ("after", True)):
        answers = [
            {
                "id": f"q<{i}>", "prompt": [{"role": "user", "content": f"{text[:40]} =?"}], "completion": text,
                "gold": "<b>4</b>", "num_tokens": 5, "truncated": False, "reward": float(right), "right": right,
                "verdicts": {"math": {"status": "scored", "score": float(right), "reason": "ok", "detail": text[:50]}},
            }
            for i, text in enumerate(HOSTILE)
        ]  # fmt: skip
        path = folder / f"answers-{when}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in answers), encoding="utf-8")
    (folder / "config.json").write_text(
        json.dumps({"reward": "math+format", "model": {"name": "<i>m</i>"}, "data": {"dataset": "d"}}), encoding="utf-8"
    )
    (folder / "summary.json").write_text(json.dumps({"stopped": None, "seconds": {"total": 61.0}}), encoding="utf-8")
    return folder


class Page(html.parser.HTMLParser):
    """Tags, attributes and the text of every <pre>, as a parser (not a regular expression) sees them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.pres: list[str] = []
        self._in_pre = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "pre":
            self._in_pre = True
            self.pres.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_pre = self._in_pre and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self._in_pre:
            self.pres[-1] += data


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report over hostile text."""
    return report.write(make_run(tmp_path_factory.mktemp("run")))


def test_page_refers_to_nothing_outside_itself(page: Path) -> None:
    """No script, link, image, font or import; and a policy that would refuse one."""
    text = page.read_text(encoding="utf-8")
    parsed = Page(text)
    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form"} & set(parsed.tags)
    assert not [a for a in parsed.attributes if a[0] in {"src", "href", "srcset", "action"} or a[0].startswith("on")]
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "default-src 'none'" in text


def test_what_a_model_wrote_is_shown_and_never_becomes_markup(page: Path) -> None:
    """Each hostile completion stands in the page as text, character for character."""
    parsed = Page(page.read_text(encoding="utf-8"))
    for text in HOSTILE[:5] + HOSTILE[6:7] + HOSTILE[8:9] + HOSTILE[11:]:
        assert text in parsed.pres, text
    assert parsed.tags.count("h1") == 1
    assert parsed.tags.count("style") == 1


def test_control_characters_are_pictures_and_surrogates_do_not_break_the_file(page: Path) -> None:
    """NUL and escape sequences are visible; a lone surrogate becomes a question mark, not a crash."""
    text = page.read_bytes().decode("utf-8")
    assert "before\u2400after \u241b[31mred" in text
    assert "\x00" not in text
    assert "\x1b" not in text
    assert "a lone surrogate ? stands here" in text


def test_long_text_is_cut_with_the_count_of_the_rest() -> None:
    """A 20,000-character completion does not make a 20,000-character page."""
    assert escape("x" * 20_000).endswith(f"<i>… {20_000 - report.MAX_TEXT_SHOWN:,} more characters</i>")
    assert escape("<" * 10, limit=4) == "&lt;&lt;&lt;&lt;<i>… 6 more characters</i>"


def test_curves_of_everything_that_was_recorded(page: Path) -> None:
    """Reward, components, spread, causes, length, KL, entropy and time each have a figure."""
    text = page.read_text(encoding="utf-8")
    titles = re.findall(r"<figcaption>(.*?)</figcaption>", text)
    for word in (
        "Reward",
        "Held-out",
        "Components",
        "spread, by cause",
        "Spread",
        "length",
        "KL",
        "Entropy",
        "Seconds",
    ):
        assert any(word in title for title in titles), word
    assert text.count("<svg") == len(titles)
    assert "Scoring takes 10.0% of the step" in text


def test_headline_says_before_and_after(page: Path) -> None:
    """The first screen has the result."""
    text = page.read_text(encoding="utf-8")
    assert "25.0% <small>[10.0%, 40.0%]</small> → 87.5% <small>[80.0%, 95.0%]</small>" in text
    assert "7,680" in text


def test_answers_that_changed_come_first_and_are_counted(tmp_path: Path) -> None:
    """The table adds up to the questions; wrong-to-right precedes right-to-right."""
    run = make_run(tmp_path / "run")
    rows = [json.loads(line) for line in (run / "answers-before.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows[:6]:
        row["right"], row["reward"] = True, 1.0
    rows[6]["reward"] = row["right"] = rows[6]["right"] = None
    (run / "answers-before.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    text = report.write(run).read_text(encoding="utf-8")
    cells = [int(n) for n in re.findall(r"<td>(\d+)</td>", text[text.index("right after") : text.index("</table>")])]
    assert sum(cells) == len(HOSTILE)
    first = text.index("<article>")
    assert text.index('<span class="mark wrong">wrong</span>', first) < text.index(
        '<span class="mark right">right</span>', first
    )


def test_a_run_that_was_killed_still_has_a_report(tmp_path: Path) -> None:
    """A last line cut short, no summary, no answers: the page shows what is there and says that the run did not end."""
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "reward": 0.5}\n{"step": 2, "reward": NaN}\n{"step": 3, "rew', encoding="utf-8")
    text = report.write(tmp_path).read_text(encoding="utf-8")
    assert "has not ended, or was killed" in text
    assert "nan" not in text.lower().replace("nanometre", "")
    assert "Held-out answers" not in text


def test_a_long_run_makes_a_small_page(tmp_path: Path) -> None:
    """20,000 steps: under a megabyte, and the last value is still the last step's neighbourhood."""
    rows = [{"step": i, "reward": i / 20_000, "kl": 0.1, "entropy": 0.2, "length": 10.0} for i in range(1, 20_001)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    page = report.write(tmp_path)
    assert page.stat().st_size < 1_000_000
    assert "reward <b>0.999</b>" in page.read_text(encoding="utf-8")


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    """Both cases name what was looked for."""
    with pytest.raises(ReportError, match=r"metrics\.jsonl"):
        report.write(tmp_path)
    with pytest.raises(ReportError, match="no such folder"):
        report.write(tmp_path / "absent")


def test_nothing_half_written_is_left_behind(tmp_path: Path) -> None:
    """The page appears whole; the part file is gone."""
    run = make_run(tmp_path / "run", steps=3)
    report.write(run, tmp_path / "page.html")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["page.html", "run"]


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 1.0), (0.3, 0.7), (-2.0, 5.0), (0.0, 1e-7), (1e6, 1e6), (0.0, 0.0), (-1.0, -1.0), (0, 32_000)],
)
def test_ticks_cover_the_range_with_few_round_values(low: float, high: float) -> None:
    """Also for one single value and for very small ones."""
    marks = ticks(low, high)
    assert marks[0] <= low
    assert marks[-1] >= high
    assert 2 <= len(marks) <= 14
    assert marks == sorted(set(marks))


def test_a_chart_without_values_is_left_out() -> None:
    """No KL was recorded: no empty frame."""
    assert chart("KL", [Series("kl", [(1.0, None), (2.0, None)])]) == ""
    assert "<svg" in chart("one point", [Series("x", [(1.0, 2.0)])])


def test_a_gap_in_a_line_stays_a_gap() -> None:
    """A step without the value is not drawn through."""
    drawn = chart("gap", [Series("x", [(1.0, 1.0), (2.0, 2.0), (3.0, None), (4.0, 4.0), (5.0, 5.0)])])
    (path,) = re.findall(r'class="line c1" d="([^"]+)"', drawn)
    assert path.count("M") == 2


def test_training_groups_of_both_ends_are_shown(tmp_path: Path) -> None:
    """From the Parquet files: the first and the last recorded step, best completion first."""
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.parquet

    run = make_run(tmp_path / "run", steps=3)
    for step in (1, 3):
        rows = [
            {"step": step, "prompt": '[{"role": "user", "content": "1+1=?"}]',
             "completion": f"answer {r} {HOSTILE[0]}",
             "gold": "2", "reward": r, "advantage": (r or 0.0) - 0.5, "group": "g",
             "math/status": "scored", "math/score": r, "math/reason": "ok", "math/detail": "", "truncated": False}
            for r in (0.0, 1.0, None)
        ]  # fmt: skip
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        pyarrow.parquet.write_table(pyarrow.table(columns), run / "completions" / f"step-{step:06d}.parquet")
    text = report.write(run).read_text(encoding="utf-8")
    assert "Step 1</h3>" in text
    assert "Step 3</h3>" in text
    assert text.index("answer 1.0") < text.index("answer 0.0") < text.index("answer None")
    assert "1+1=?" in text


# ---------------------------------------------------------------- a real browser


def chromium() -> str:
    """The browser, or a skip that says so."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if (found := shutil.which(name)) is not None:
            return found
    pytest.skip("no chromium here: the report was not opened in a real browser (apt-get install chromium)")


def run_browser(page: Path, folder: Path, *extra: str) -> subprocess.CompletedProcess[str]:
    """One headless visit with a profile of its own."""
    flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}", "--window-size=1280,1600",
    ]  # fmt: skip
    return subprocess.run(
        [chromium(), *flags, *extra, page.resolve().as_uri()],
        capture_output=True, text=True, errors="replace", timeout=120, check=False,
        env={**os.environ, "HOME": str(folder)},
    )  # fmt: skip


def test_a_real_browser_sees_the_same_page_and_runs_nothing(page: Path, tmp_path: Path) -> None:
    """The DOM that chromium builds: title untouched, hostile text as text, all figures there."""
    dom = run_browser(page, tmp_path, "--dump-dom").stdout
    assert "<title>GRPO run" in dom
    parsed = Page(dom)
    assert "pwned" not in {value for name, value in parsed.attributes if name == "id"}
    assert "script" not in parsed.tags
    assert "img" not in parsed.tags
    assert HOSTILE[0] in parsed.pres
    assert HOSTILE[2] in parsed.pres
    assert parsed.tags.count("svg") == page.read_text(encoding="utf-8").count("<svg")


def test_a_real_browser_draws_the_curves(page: Path, tmp_path: Path) -> None:
    """The screenshot has the colours of the lines in it, so the SVG is drawn and the style applied."""
    pixels_of = pytest.importorskip("matplotlib.image").imread
    shot = tmp_path / "page.png"
    done = run_browser(page, tmp_path, f"--screenshot={shot}", "--hide-scrollbars", "--force-device-scale-factor=1")
    assert shot.is_file(), done.stderr[-500:]
    pixels: Any = pixels_of(shot)[..., :3] * 255
    assert pixels.shape[0] >= 1000
    for colour in ((0, 0x67, 0xB1), (0xD5, 0x5E, 0x00)):  # --c1 and --c2 of the light theme
        near = (abs(pixels - list(colour)) < 12).all(axis=-1).sum()
        assert near > 200, colour
