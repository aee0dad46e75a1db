"""The Python client on a lead: a line of JSON in for each call, a line out with what came of it.

Arguments: the server's address; the mode to connect in; "sign-in" to try OAuth when refused.
The token, if there is one, comes from the environment.
"""

import asyncio
import json
import logging
import os
import sys

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata


class NoStorage:
    """Keeps nothing: there is never anything to keep."""

    async def get_tokens(self):
        return None

    async def set_tokens(self, tokens):
        raise AssertionError("this server gives no tokens")

    async def get_client_info(self):
        return None

    async def set_client_info(self, client_info):
        raise AssertionError("this server registers no clients")


def tell(**answer):
    print(json.dumps(answer), flush=True)


def reason(error):
    """The innermost of errors that task groups have wrapped."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def http_client(url, sign_in):
    token = os.environ.get("DAS_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    metadata = OAuthClientMetadata(redirect_uris=["http://127.0.0.1/callback"])
    auth = OAuthClientProvider(url, metadata, NoStorage()) if sign_in else None
    return httpx2.AsyncClient(headers=headers, auth=auth)


async def converse(client):
    info = client.server_info.model_dump(mode="json", exclude_unset=True)
    tell(result={"serverInfo": info, "instructions": client.instructions})
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        try:
            result = await getattr(client, order["method"])(**order["params"])
            tell(result=result.model_dump(mode="json", by_alias=True, exclude_unset=True))
        except Exception as error:
            tell(error=reason(error))


async def main(url, mode, sign_in=False):
    try:
        async with http_client(url, sign_in) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode=mode) as client:
                await converse(client)
    except Exception as error:
        tell(error=reason(error))


# What goes wrong is told in the answers.
logging.disable()
asyncio.run(main(sys.argv[1], sys.argv[2], "sign-in" in sys.argv[3:]))
