import { BlockList, isIPv6 } from 'node:net'
import type { ServerReport } from '../../control/server-report.js'
import { fail, ok, warn } from './finding.js'
import type { Finding } from './finding.js'

const check = 'proxy'

/** Of a range that is not in use (RFC 5737): what a client could claim to be. */
export const forgedAddress = '192.0.2.123'

const page = 'docs/deploying.md, "Proxy"'

/** Whether the server learns who a client is, from its report on a request to `base`. */
export function proxyFindings(
  base: string,
  { request, trustProxy }: Pick<ServerReport, 'request' | 'trustProxy'>,
  localPort: number | undefined,
): readonly Finding[] {
  const { peer, peerPort, forwardedFor } = request
  if (peerPort === localPort && forwardedFor === forgedAddress) {
    return [ok(check, `none between this machine and ${base}`)]
  }
  const findings = [
    ...addressFindings(forwardedFor, peer ?? '', trustProxy),
    ...headerFindings(new URL(base), request),
  ]
  if (findings.length > 0) return findings
  return [ok(check, `${peer} is trusted, and says that this machine is ${request.address}`)]
}

function addressFindings(
  forwardedFor: string | null,
  peer: string,
  trustProxy: readonly string[],
): readonly Finding[] {
  const result = `every client counts as ${peer}`
  if (forwardedFor === null) {
    const what = `${peer} sends no X-Forwarded-For: ${result}`
    return [fail(check, what, `let it send the client's address: ${page}`)]
  }
  if (!isTrusted(peer, trustProxy)) {
    return [fail(check, `${peer} is not trusted: ${result}`, `--trust-proxy ${peer}`)]
  }
  if (!forwardedFor.includes(forgedAddress)) return []
  const what = `${peer} passes on what clients write in X-Forwarded-For`
  return [fail(check, what, `let it replace the header: ${page}`)]
}

function headerFindings(
  url: URL,
  { host, forwardedProto }: ServerReport['request'],
): readonly Finding[] {
  const findings: Finding[] = []
  const given = host === null ? null : `http://${host}`
  const name = given !== null && URL.canParse(given) ? new URL(given).hostname : null
  if (name !== url.hostname) {
    const what = `the host ${url.hostname} arrives as ${host}: /mcp may refuse it`
    findings.push(fail(check, what, `let the proxy pass Host on: ${page}`))
  }
  if (forwardedProto !== url.protocol.slice(0, -1)) {
    const what = `X-Forwarded-Proto is ${forwardedProto ?? 'missing'} for ${url.protocol}//`
    findings.push(warn(check, what, `let the proxy send its own: ${page}`))
  }
  return findings
}

function isTrusted(peer: string, networks: readonly string[]): boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4')
}
