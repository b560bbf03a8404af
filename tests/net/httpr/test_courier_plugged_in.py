"""Tests the courier beside an engine: it performs the effects of HTTPR, and its answers reach the machine."""

from __future__ import annotations

from pathlib import Path

from reliquary.base.time import seconds
from reliquary.engine.open import open_engine
from reliquary.net.chance import SystemChance
from reliquary.net.clock import RealClock
from reliquary.net.httpr.courier import plug_in
from reliquary.protocols.httpr.effects import HangUp, SendRequest
from reliquary.protocols.standard import standard
from tests.net.http.harness import play, until
from tests.net.httpr.harness import answering, push, serving


def test_a_carrier_performs_for_an_engine_and_calls_back_for_each_answer(tmp_path: Path) -> None:
    async def scene() -> None:
        heard: list[None] = []
        opened = await open_engine(
            tmp_path, clock=RealClock(), chance=SystemChance(), computer_name="HERE", protocols=standard()
        )
        courier = plug_in(opened, response_time=seconds(60), on_settled=lambda: heard.append(None))
        try:
            async with serving(answering()) as there:
                url = f"http://127.0.0.1:{there.port}/httpr/orders"
                opened.engine.performers[SendRequest](SendRequest(9, 1, 1, url, push(1)))
                await until(lambda: bool(heard))
                opened.engine.performers[HangUp](HangUp(9, 1))
                await until(lambda: there.gone == 1)
        finally:
            await opened.close()
            courier.stop()

    play(scene)
