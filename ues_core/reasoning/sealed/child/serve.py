"""Serving the five methods from inside the seal: one loop, one thread that reads, one lock to write under.

Requests of the host become tasks; a cancellation ends the task and is answered like any other end. The process is over when
the host closes the pipe, whatever the plugin is doing at that moment.
"""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
from typing import Any, Final

from ues_core.contract import ConsultRequest, ProviderSession, UesError, UsageError, WebReasoningProvider
from ues_core.reasoning.sealed.child import wire
from ues_core.reasoning.sealed.child.loading import load
from ues_core.reasoning.sealed.child.proxy import ChannelProxy, Refused

_MESSAGE_BYTES: Final = 21_000_000
_CHUNK: Final = 1 << 20
_SENTENCE: Final = 300


class Peer:
    """The pipe: writing from any thread, questions to the host, and answers given back to whoever asked."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._lock = threading.Lock()
        self._count = 0
        self._waiting: dict[str, asyncio.Future[Any]] = {}

    def send(self, message: dict[str, Any]) -> None:
        """Write one message; blocks while the host does not read."""
        data = memoryview(wire.encode(message))
        with self._lock:
            while data:
                data = data[os.write(self._writing, data[:_CHUNK]) :]

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Ask the host; its error is raised as ``Refused``."""
        self._count += 1
        key = f"c{self._count}"
        future = self._waiting[key] = asyncio.get_running_loop().create_future()
        try:
            self.send({"id": key, "method": method, "params": params})
            return await future
        finally:
            self._waiting.pop(key, None)

    def answered(self, message: dict[str, Any]) -> None:
        """Hand an answer of the host to whoever asked; nobody may be waiting any more."""
        future = self._waiting.get(message.get("id", ""))
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(Refused(message["error"]))
        else:
            future.set_result(message["result"])

    def read(self) -> dict[str, Any] | None:
        """The next message, in a thread of its own; ``None`` at the end of the pipe."""
        header = self._exactly(wire.HEADER_BYTES)
        if header is None or wire.length(header) > _MESSAGE_BYTES:
            return None
        body = self._exactly(wire.length(header))
        return None if body is None else wire.decode(body)

    def _exactly(self, size: int) -> bytes | None:
        parts = []
        while size:
            part = os.read(self._reading, min(size, _CHUNK))
            if not part:
                return None
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


class Service:
    """The plugin, its sessions' channels, and the requests that are running."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._provider: WebReasoningProvider | None = None
        self._channels: dict[str, ChannelProxy] = {}
        self._running: dict[str, asyncio.Task[None]] = {}

    def receive(self, message: dict[str, Any]) -> None:
        """One message of the host, on the loop."""
        if "method" not in message:
            self._peer.answered(message)
            return
        method, params = message["method"], message.get("params", {})
        if method == "cancel":
            task = self._running.get(params["id"])
            if task is not None:
                task.cancel()
        elif method == "cancelled":
            channel = self._channels.get(params["session"])
            if channel is not None:
                channel.cancelled = True
        else:
            key = message["id"]
            self._running[key] = asyncio.create_task(self._run(key, method, params))

    async def _run(self, key: str, method: str, params: dict[str, Any]) -> None:
        try:
            answer: dict[str, Any] = {"id": key, "result": await self._call(method, params)}
        except asyncio.CancelledError:
            answer = {"id": key, "error": {"code": wire.CANCELLED, "message": "cancelled"}}
        except BaseException as error:  # noqa: BLE001 - the plugin's code may raise anything, also SystemExit
            answer = {"id": key, "error": {"code": wire.FAILED, "message": "failed", "data": _describe(error)}}
        finally:
            self._running.pop(key, None)
        try:
            self._peer.send(answer)
        except ValueError:
            self._peer.send({"id": key, "error": {"code": wire.FAILED, "message": "failed", "data": {"kind": "ValueError"}}})

    async def _call(self, method: str, params: dict[str, Any]) -> Any:
        if method == "load":
            self._provider = load(params)
            return _dump(self._provider.info)
        provider = self._provider
        if provider is None:
            raise UsageError("The provider was not loaded.")
        if method == "capability":
            return _dump(await provider.capability())
        session = str(params["session"])
        if method == "start_session":
            channel = self._channels[session] = ChannelProxy(self._peer.send, self._peer.ask, params["kind"])
            with channel.during(params["call"], None):
                return _dump(await provider.start_session(channel, params["resume"]))
        handle = ProviderSession.model_validate(params["handle"])
        channel = self._channels[session]
        if method == "close_session":
            with channel.during(params["call"], None):
                await provider.close_session(handle)
            del self._channels[session]
            return None
        request = ConsultRequest.model_validate(params["request"])
        ask = provider.consult if method == "consult" else provider.follow_up
        with channel.during(params["call"], request):
            return _dump(await ask(handle, request, float(params["deadline"])))


def serve(reading: int, writing: int) -> None:
    """Serve until the host ends it."""
    try:
        asyncio.run(_main(Peer(reading, writing)))
    finally:
        os._exit(1)


async def _main(peer: Peer) -> None:
    loop = asyncio.get_running_loop()
    service = Service(peer)

    def pump() -> None:
        try:
            while (message := peer.read()) is not None:
                loop.call_soon_threadsafe(service.receive, message)
        finally:
            os._exit(0)

    threading.Thread(target=pump, name="channel", daemon=True).start()
    await asyncio.Event().wait()


def _dump(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True)


def _describe(error: BaseException) -> dict[str, str]:
    """An exception as bounded words; its own text may raise."""
    try:
        text = error.sentence if isinstance(error, UesError) else str(error)
    except Exception:  # noqa: BLE001 - the text is the plugin's; without it the type has to do
        text = ""
    if not isinstance(error, UesError):
        traceback.print_exception(error, limit=8)
    code = str(error.code) if isinstance(error, UesError) else ""
    step = error.next_step if isinstance(error, UesError) else ""
    return {
        "kind": type(error).__name__[:80],
        "sentence": " ".join(str(text).split())[:_SENTENCE],
        "code": code[:80],
        "next_step": " ".join(str(step).split())[:_SENTENCE],
    }
