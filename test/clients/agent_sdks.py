"""Lists and calls the tools through the SDKs of agents, and prints what each made of them as JSON.

Argument: the address of `/mcp`. The token comes from the environment. No model is asked: the SDKs
convert the tools as they do for one, and send the calls that a model would answer with.
"""

import asyncio
import json
import os
import sys

import httpx2
import jsonschema
from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStreamableHttp, MCPUtil
from agents.tool_context import ToolContext
from anthropic.lib.tools.mcp import async_mcp_tool
from google.genai._adapters import McpToGenAiToolAdapter
from google.genai.types import FunctionCall
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

url = sys.argv[1]
headers = {"Authorization": f"Bearer {os.environ['DAS_TOKEN']}"}

filters = [
    {"column": "year", "op": "in", "value": [2023, 2024]},
    {"column": "kpp", "op": "not_null"},
]
calls = {
    "list_resources": {},
    "describe_resource": {"resource": "financials", "columns": ["inn", "2110"]},
    "query": {"resource": "financials", "filters": filters, "select": ["inn", "year", "2110"]},
    "aggregate": {"resource": "financials", "measures": ["count"], "filters": filters},
    "top": {"resource": "financials", "by": "-2110", "filters": filters, "select": ["inn"]},
    "find": {"q": "лукойл"},
    "changes": {"resource": "financials"},
    "search": {"query": "лукойл"},
    "fetch": {"id": "financials/7708004767"},
}
# What strict callers send for members that have no empty value: what the server takes for absent.
usual = {
    "query": {"limit": 50, "explain": True},
    "aggregate": {"limit": 100, "labels": False, "rest": False},
    "top": {"limit": 50},
    "find": {"limit": 10, "explain": True},
    "changes": {"limit": 50},
}


def filled(schema, value, instead):
    """The value with every optional member, as strict mode has it: "" or [] where they are absent."""
    if isinstance(value, dict):
        return {
            name: filled(inner, value[name], {}) if name in value else empty(name, inner, instead)
            for name, inner in schema["properties"].items()
        }
    if isinstance(value, list) and "items" in schema:
        return [filled(schema["items"], each, {}) for each in value]
    return value


def empty(name, schema, instead):
    if name in instead:
        return instead[name]
    first = schema["anyOf"][0] if "anyOf" in schema else schema
    return {"string": "", "array": []}[first["type"]]


def parsed(text):
    """An answer, without what it cost."""
    answer = json.loads(text)
    answer.pop("quota", None)
    answer.get("metadata", {}).pop("quota", None)
    return answer


async def through_openai():
    params = {"url": url, "headers": headers}
    async with MCPServerStreamableHttp(params=params, client_session_timeout_seconds=60) as server:
        agent = Agent(name="agent", mcp_servers=[server])
        tools = await MCPUtil.get_all_function_tools(
            [server], True, RunContextWrapper(context=None), agent
        )
        return {tool.name: await call_strictly(tool) for tool in tools}


async def call_strictly(tool):
    schema, plain = tool.params_json_schema, calls[tool.name]
    whole = filled(schema, plain, usual.get(tool.name, {}))
    jsonschema.validate(whole, schema)
    answers = []
    for arguments in (plain, whole):
        text = json.dumps(arguments)
        context = ToolContext(
            context=None, tool_name=tool.name, tool_call_id="call", tool_arguments=text
        )
        answers.append(parsed((await tool.on_invoke_tool(context, text))["text"]))
    return {
        "strict": tool.strict_json_schema,
        "described": bool(tool.description),
        "members": sorted(schema["properties"]),
        "sent": whole,
        "answer": answers[0],
        "strictly": answers[1],
    }


async def through_google(session, listed):
    adapter = McpToGenAiToolAdapter(session, listed)
    results = {}
    for tool in adapter.tools:
        (declared,) = tool.function_declarations
        call = FunctionCall(name=declared.name, args=calls[declared.name])
        answer = await adapter.call_tool(call)
        results[declared.name] = {
            "described": bool(declared.description),
            "members": sorted(declared.parameters.properties or {}),
            "answer": parsed(answer.content[0].text),
        }
    return results


async def through_anthropic(session, listed):
    results = {}
    for tool in [async_mcp_tool(each, session) for each in listed.tools]:
        made = tool.to_dict()
        content = await tool.call(calls[made["name"]])
        results[made["name"]] = {
            "described": bool(made["description"]),
            "members": sorted(made["input_schema"]["properties"]),
            "answer": parsed(content[0]["text"]),
        }
    return results


async def main():
    results = {"openai": await through_openai()}
    async with httpx2.AsyncClient(headers=headers) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            listed = await client.list_tools()
            results["google"] = await through_google(client.session, listed)
            results["anthropic"] = await through_anthropic(client.session, listed)
    print(json.dumps(results))


asyncio.run(main())
