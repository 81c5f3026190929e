"""SkyRL: `register(id="rewards", entry_point=skyrl.environment("math+format"))` with skyrl_gym's register.

One turn: the environment judges the answer against `extras["reward_spec"]["ground_truth"]` and is done.
Unscored: `Unscored` is raised (after retries) and the trajectory fails; it never becomes 0.
"""

from __future__ import annotations

from typing import Any

from rewards.integrations.unscored import number, reward_for, score
from rewards.verdict import Sample


def environment(reward: str, *, prefill: str = "") -> Any:
    """A single-turn `BaseTextEnv` class for one expression.

    Raises:
        ValueError: the expression compares the answers of a group; an environment sees one.
    """
    from skyrl_gym.envs import base_text_env as gym  # type: ignore[import-not-found,unused-ignore]

    parsed = reward_for(reward)
    if any(verifier.scope == "group" for verifier in parsed.components.values()):
        raise ValueError(f"{reward!r} compares answers of a group; a SkyRL environment sees one")

    class RewardEnv(gym.BaseTextEnv):  # type: ignore[misc]
        """One answer, one verdict."""

        def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
            super().__init__()
            self.extras = dict(extras or {})
            spec = self.extras.get("reward_spec")
            if not isinstance(spec, dict) or "ground_truth" not in spec:
                raise ValueError("extras['reward_spec']['ground_truth'] is missing; SkyRL takes it from the data set")
            self.ground_truth = spec["ground_truth"]

        def step(self, action: str) -> Any:
            """Judge the answer; always done."""
            self.turns += 1
            sample = Sample(
                id=str(self.extras.get("index", "")),
                prefill=prefill,
                completion=action,
                gold=self.ground_truth,
                tests=self.ground_truth if "tests" in parsed.needs else None,
                task=self.extras.get("data_source"),
                meta=self.extras,
            )
            (result,) = score(parsed, [sample])
            value = number(result, sample)
            verdicts = {key: verdict.as_row() for key, verdict in result.verdicts.items()}
            return gym.BaseTextEnvStepOutput(observations=[], reward=value, done=True, metadata={"verdicts": verdicts})

    return RewardEnv
