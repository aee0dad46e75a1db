"""The Python client on a lead: a line of JSON in for each call, a line out with what came of it.

Arguments: the server's address; the mode to connect in; to sign in when refused, a folder in which
to keep what it is given. The token, if there is one, comes from the environment. To sign in, a line
out names the address that the person is to visit, and the next line in has the one that the browser
was sent back to.
"""

import asyncio
import json
import logging
import os
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)


class Memory:
    """Keeps what the program is given in files, for its next run."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def read(self, name, model):
        file = self.folder / name
        return model.model_validate_json(file.read_text()) if file.exists() else None

    async def get_tokens(self):
        return self.read("tokens.json", OAuthToken)

    async def set_tokens(self, tokens):
        (self.folder / "tokens.json").write_text(tokens.model_dump_json(exclude_none=True))

    async def get_client_info(self):
        return self.read("client.json", OAuthClientInformationFull)

    async def set_client_info(self, info):
        (self.folder / "client.json").write_text(info.model_dump_json(exclude_none=True))


class Auth(OAuthClientProvider):
    """Also knows of tokens from an earlier run when they end, as programs made with FastMCP do."""

    async def _initialize(self):
        await super()._initialize()
        if self.context.current_tokens:
            self.context.update_token_expiry(self.context.current_tokens)


def tell(**answer):
    print(json.dumps(answer), flush=True)


def reason(error):
    """The innermost of errors that task groups have wrapped."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


async def next_order():
    line = await asyncio.to_thread(sys.stdin.readline)
    return json.loads(line) if line else None


async def send_person(url):
    tell(visit=url)


async def await_person():
    order = await next_order()
    query = parse_qs(urlsplit(order["callback"]).query)
    return AuthorizationCodeResult(**{name: query[name][0] for name in ("code", "state", "iss")})


def http_client(url, folder):
    token = os.environ.get("DAS_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if folder is None:
        return httpx2.AsyncClient(headers=headers)
    metadata = OAuthClientMetadata(
        client_name="Scenario", redirect_uris=["http://127.0.0.1:33333/callback"]
    )
    auth = Auth(url, metadata, Memory(folder), send_person, await_person)
    return httpx2.AsyncClient(headers=headers, auth=auth)


def pass_time(seconds):
    """Moves the clock of this program on: by it, the client knows when to refresh."""
    earlier = time.time
    time.time = lambda: earlier() + seconds


async def converse(client):
    info = client.server_info.model_dump(mode="json", exclude_unset=True)
    tell(result={"serverInfo": info, "instructions": client.instructions})
    while order := await next_order():
        if order["method"] == "pass_time":
            pass_time(**order["params"])
            tell(result={})
            continue
        try:
            result = await getattr(client, order["method"])(**order["params"])
            tell(result=result.model_dump(mode="json", by_alias=True, exclude_unset=True))
        except Exception as error:
            tell(error=reason(error))


async def main(url, mode, folder=None):
    try:
        async with http_client(url, folder) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode=mode) as client:
                await converse(client)
    except Exception as error:
        tell(error=reason(error))


# What goes wrong is told in the answers.
logging.disable()
asyncio.run(main(*sys.argv[1:]))
