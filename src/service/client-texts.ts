/** A command line that asks with this token; it can be pasted into a shell as it is. */
export function curlCommand(url: string, token: string): string {
  return `curl -H ${shellQuoted(`Authorization: Bearer ${token}`)} ${shellQuoted(url)}`
}

/** One word for a POSIX shell, whatever it holds. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The configuration of this server for MCP clients that send headers, to be written as JSON. */
export function mcpConfiguration(base: string, token: string): object {
  const server = { url: `${base}/mcp/`, headers: { Authorization: `Bearer ${token}` } }
  return { mcpServers: { datasets: server } }
}
