"""What a tokenizer and its chat template can spoil, found before the weights load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grpo_runner.config import RunConfig
from rewards.expression import Reward
from rewards.integrations.trl import chat_prefill
from rewards.verdict import Sample

LOOKED_AT: Final = 256
"""Prompts whose length is measured; the longest of a data set is rarely far from the longest of these."""


def wanted_tags(reward: Reward) -> dict[str, tuple[str, ...]]:
    """Component key to the tags that it asks for; () for components that ask for none."""
    found: dict[str, tuple[str, ...]] = {}
    for key, verifier in reward.components.items():
        tags = getattr(verifier.params, "tags", ())
        found[key] = tuple(tags) if isinstance(tags, tuple | list) else ()
    return found


def prompt_text(tokenizer: Any, prompt: Any, prefill: str = "") -> str:
    """A prompt as the model reads it, as text."""
    if isinstance(prompt, str):
        return prompt
    return str(tokenizer.apply_chat_template(list(prompt), tokenize=False, add_generation_prompt=True))


def check(
    config: RunConfig, reward: Reward, tokenizer: Any, samples: Sequence[Sample], context: int | None
) -> tuple[list[str], list[str]]:
    """(faults, remarks). `context` is the model's longest sequence in tokens, None where it does not say."""
    faults: list[str] = []
    remarks: list[str] = []
    has_template = bool(getattr(tokenizer, "chat_template", None))
    chats = [s for s in samples if not isinstance(s.prompt, str)]
    if chats and not has_template:
        faults.append(
            f"data.prompt_column: {len(chats)} prompts are chat messages, and the tokenizer of "
            f"{config.model.name or 'the starter'} has no chat template; use an instruction-tuned model or text prompts"
            + ("" if config.data.system_prompt is None else " (data.system_prompt makes them chat messages)")
        )
        return faults, remarks
    if tokenizer.eos_token_id is None:
        faults.append("model.name: the tokenizer has no end-of-sequence token, so no completion ever ends by itself")
    _check_tags(reward, tokenizer, faults)
    shown = [as_prompt(s, has_template) for s in samples[:LOOKED_AT]]
    try:
        texts = [prompt_text(tokenizer, prompt) for prompt in shown]
    except Exception as error:  # a template may raise anything, such as for a system message it does not take
        faults.append(f"data: the chat template refuses the first prompts: {type(error).__name__}: {error}")
        return faults, remarks
    prefill = chat_prefill(tokenizer)
    if prefill:
        remarks.append(f"the chat template opens the answer with {prefill!r}; it is judged as part of the completion")
    _check_asked(config, reward, texts, remarks)
    if context is not None and texts:
        longest = max(len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts)
        if config.data.max_prompt_tokens is not None:
            longest = min(longest, config.data.max_prompt_tokens)
        if longest + config.sampling.max_new_tokens > context:
            faults.append(
                f"sampling.max_new_tokens: prompts of up to {longest} tokens and {config.sampling.max_new_tokens} new "
                f"ones exceed the model's {context}; set --max-new-tokens {max(1, context - longest)} or less, or "
                "--max-prompt-tokens"
            )
    return faults, remarks


def as_prompt(sample: Sample, has_template: bool) -> Any:
    """A plain question as a user message where there is a chat template."""
    if isinstance(sample.prompt, str) and has_template:
        return [{"role": "user", "content": sample.prompt}]
    return sample.prompt


def _check_tags(reward: Reward, tokenizer: Any, faults: list[str]) -> None:
    """Special tokens are dropped when completions are decoded, so a tag that is one can never be seen."""
    gone: dict[str, list[str]] = {}
    for key, tags in wanted_tags(reward).items():
        for tag in tags:
            for part in (f"<{tag}>", f"</{tag}>"):
                ids = tokenizer(part, add_special_tokens=False)["input_ids"]
                if part not in tokenizer.decode(ids, skip_special_tokens=True):
                    gone.setdefault(key, []).append(part)
    for key, parts in gone.items():
        faults.append(
            f"reward: {key} looks for {' '.join(parts)}, which this tokenizer holds as special tokens or cannot write: "
            "they vanish when completions are decoded, and the reward is 0 for ever; use other tags, such as "
            f"{key}(tags='reasoning,answer'), or a tokenizer where they are ordinary tokens"
        )


def _check_asked(config: RunConfig, reward: Reward, texts: Sequence[str], remarks: list[str]) -> None:
    if config.is_starter or not texts:  # the starter was warmed up on its layout
        return
    missing: Mapping[str, list[str]] = {
        key: [tag for tag in tags if not all(f"<{tag}>" in text for text in texts)]
        for key, tags in wanted_tags(reward).items()
    }
    for key, tags in missing.items():
        if tags:
            remarks.append(
                f"reward: {key} looks for {' and '.join(f'<{t}>' for t in tags)}, and the prompts never ask for it; "
                "say so with data.system_prompt"
            )
