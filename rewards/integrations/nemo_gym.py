"""NeMo Gym: an `app.py` of two lines, `Server = nemo_gym.resources_server("math")` and `Server.run_webserver()`.

`POST /verify` takes the rollout and `expected_answer` (or `tests`), and answers with the same body and `reward`.
Unscored: HTTP 422 for a row that is unusable, 503 for our own failure (after retries), both with the reason, so that
the rollout fails and is seen. It never becomes 0. Verification keeps no state: old rollouts can be verified again.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from rewards.integrations.unscored import Unscored, number, reward_for, score
from rewards.verdict import Sample, Status


def answer_text(response: Any) -> str:
    """The text of the last message of a Responses-API output."""
    messages = [item for item in response.output if item.type == "message"]
    return "".join(part.text for part in messages[-1].content if part.type == "output_text") if messages else ""


def resources_server(reward: str, *, prefill: str = "") -> Any:
    """A resources server class that judges with one expression."""
    from fastapi import HTTPException  # type: ignore[import-not-found,unused-ignore]
    from nemo_gym import base_resources_server as gym  # type: ignore[import-not-found,unused-ignore]

    parsed = reward_for(reward)

    class VerifyRequest(gym.BaseVerifyRequest):  # type: ignore[misc]
        expected_answer: Any = None
        tests: Any = None
        task: str | None = None

    class VerifyResponse(gym.BaseVerifyResponse):  # type: ignore[misc]
        verdicts: dict[str, Any]

    class RewardConfig(gym.BaseResourcesServerConfig):  # type: ignore[misc]
        REVERIFY_MODE: ClassVar[Any] = gym.ReverifyMode.STATELESS

    class RewardResourcesServer(gym.SimpleResourcesServer):  # type: ignore[misc]
        """Judges rollouts with a reward expression."""

        config: RewardConfig

        async def verify(self, body: VerifyRequest) -> VerifyResponse:
            text = answer_text(body.response)
            sample = Sample(
                prefill=prefill, completion=text, gold=body.expected_answer, tests=body.tests, task=body.task
            )
            (result,) = await asyncio.to_thread(score, parsed, [sample])
            try:
                value = number(result, sample)
            except Unscored as error:
                code = 422 if result.status is Status.INVALID else 503
                raise HTTPException(status_code=code, detail=str(error)) from None
            verdicts = {key: verdict.as_row() for key, verdict in result.verdicts.items()}
            return VerifyResponse(**body.model_dump(), reward=value, verdicts=verdicts)

    return RewardResourcesServer
