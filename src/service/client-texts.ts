/** A command line that sends a question with this token, ready to paste into a shell. */
export function curlCommand(url: string, token: string): string {
  return `curl -H ${shellQuoted(`Authorization: Bearer ${token}`)} ${shellQuoted(url)}`
}

/** Quotes any text as one word for a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The configuration of this server for MCP clients that send headers, to be serialized as JSON. */
export function mcpConfiguration(base: string, token: string): object {
  const server = { url: `${base}/mcp/`, headers: { Authorization: `Bearer ${token}` } }
  return { mcpServers: { datasets: server } }
}
