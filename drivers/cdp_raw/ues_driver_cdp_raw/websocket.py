"""The websocket to a browser that an operator runs. Only ever attached to, never killed."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import websockets
from websockets.asyncio.client import ClientConnection

from ues_core.contract import Code, ConfigError, DeadlineExceeded, DriverError, Fault
from ues_driver_cdp_raw.connection import CLOSE_SECONDS, MAX_MESSAGE_BYTES, RawConnection

_VERSION_BYTES: Final = 65_536
"""More than any ``/json/version`` says."""


async def attach_browser(endpoint: str, *, deadline: float) -> RawConnection:
    """Connect to ``ws://...``, or to ``http://host:port`` whose ``/json/version`` names the websocket.

    Raises ``ConfigError`` when the endpoint is no such address, ``DeadlineExceeded``, or ``DriverError`` with code
    ``browser-start-failed`` when nothing answers there. Closing the connection leaves the browser as it is.
    """
    try:
        async with asyncio.timeout(deadline):
            url = await _websocket_url(endpoint, deadline)
            socket = await websockets.connect(
                url,
                max_size=MAX_MESSAGE_BYTES,
                compression=None,  # it is on this machine or a tunnel: compressing costs more than it saves
                ping_interval=None,  # a browser busy with a long script is not gone
                open_timeout=None,  # bounded above
                close_timeout=CLOSE_SECONDS,
                proxy=None,
            )
    except TimeoutError:
        raise DeadlineExceeded(
            f"The browser's endpoint did not answer within {deadline:.3g} s.",
            fault=Fault.OPERATOR,
            next_step="Check that the browser runs and that its debugging address is right.",
        ) from None
    except (OSError, http.client.HTTPException, websockets.WebSocketException) as error:
        raise _unreachable(str(error)) from error
    connection = RawConnection()
    connection.use(_WebsocketWire(socket, connection))
    return connection


class _WebsocketWire:
    def __init__(self, socket: ClientConnection, connection: RawConnection) -> None:
        self._socket = socket
        self._reader = asyncio.create_task(self._read(connection), name="cdp-websocket-reader")

    async def _read(self, connection: RawConnection) -> None:
        try:
            async for message in self._socket:
                connection.feed(message)
            connection.lost("the browser closed its websocket")
        except websockets.ConnectionClosed as error:
            connection.lost(f"the websocket broke: {error}")
        finally:
            connection.lost("the websocket's reader ended")

    async def write(self, data: bytes) -> None:
        try:
            await self._socket.send(data, text=True)
        except websockets.ConnectionClosed as error:
            raise ConnectionError(str(error)) from error

    async def close(self) -> None:
        try:
            await self._socket.close()
        finally:
            self._reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reader


async def _websocket_url(endpoint: str, deadline: float) -> str:
    parts = urlsplit(endpoint)
    if parts.scheme in ("ws", "wss") and parts.hostname:
        return endpoint
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            "The attach endpoint is neither ws://... nor http://host:port.",
            next_step="Give the address that the browser printed after 'DevTools listening on', or http://127.0.0.1:PORT.",
        )
    said = await asyncio.to_thread(_version, parts.scheme, parts.netloc, deadline)
    try:
        named = urlsplit(str(json.loads(said)["webSocketDebuggerUrl"]))
    except (ValueError, KeyError, TypeError) as error:
        raise _unreachable("its /json/version names no websocket") from error
    # The operator named the host; what answers there may choose the path only, not another machine.
    return urlunsplit(("wss" if parts.scheme == "https" else "ws", parts.netloc, named.path, named.query, ""))


def _version(scheme: str, netloc: str, deadline: float) -> bytes:
    kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
    client = kind(netloc.rpartition("@")[2], timeout=deadline)
    try:
        client.request("GET", "/json/version")
        answer = client.getresponse()
        if answer.status != http.client.OK:
            raise http.client.HTTPException(f"/json/version answered {answer.status}")
        return answer.read(_VERSION_BYTES)
    finally:
        client.close()


def _unreachable(reason: str) -> DriverError:
    return DriverError(
        f"No browser answers at the attach endpoint: {reason[:300]}",
        code=Code.BROWSER_START_FAILED,
        fault=Fault.OPERATOR,
        next_step="Start the browser with --remote-debugging-port, or correct the endpoint.",
    )
