import { once } from 'node:events'
import { stat, statfs } from 'node:fs/promises'
import { request as askHttp } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as askHttps } from 'node:https'
import { BlockList, isIPv6 } from 'node:net'
import { text } from 'node:stream/consumers'
import { readRegistry } from '../../catalog.js'
import { abortAfter } from '../../clock.js'
import type { Clock } from '../../clock.js'
import type { Config } from '../../config.js'
import { readReport, reportHeader, reportProof } from '../../control/server-report.js'
import type { ServerReport } from '../../control/server-report.js'
import { ServerLock } from '../../control/store/server-lock.js'
import { readMailSettings } from '../../sales/letters/mail-settings.js'
import { commandLimits } from '../../sales/letters/smtp-limits.js'
import { checkSmtp } from '../../sales/letters/smtp.js'
import { listOf, RegistryError } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { splitPattern } from '../../versions/files/expand-pattern.js'
import type { Flags } from '../command.js'
import { listedDatasets } from '../dataset/dataset-list.js'
import type { CliParts } from '../parts.js'
import { minute, sizeText } from '../print.js'
import { linkBase } from '../server-address.js'
import { lockPath } from '../state-file.js'
import { finding, oneLine, reasonOf } from './folder-checks.js'
import type { ControlFacts, Finding, Reports } from './folder-checks.js'

const askMsMax = 5000
/** Of a range that is not in use (RFC 5737): what a client could claim to be. */
const forgedAddress = '192.0.2.123'
/** What docs/operating.md asks for. */
const openFilesGood = 65_536
/** Charges, letters and the audit trail are written for days. */
const freeBytesMin = 500e6
/** A new version may need a copy of its files. */
const freeShareGood = 0.1
/** A letter is tried at least hourly. */
const letterWaitMsMax = 3_600_000

/** The findings about the running server, and its report if it made one. */
interface ExaminedServer {
  readonly findings: readonly Finding[]
  readonly report: ServerReport | null
}

/**
 * Asks the server that runs over the state folder at its public address. `key` proves that this
 * command may read the report.
 */
export async function examineServer(
  parts: CliParts,
  config: Pick<Config, 'publicUrl' | 'host' | 'port' | 'state'>,
  flags: Flags,
  key: Uint8Array | null,
): Promise<ExaminedServer> {
  const check = 'server'
  if (!ServerLock.isHeld(lockPath(config.state))) {
    const what = 'none runs over the state folder: its address, proxy and limits are not checked'
    const advice = 'start it, and run das doctor again'
    return { findings: [finding(check, what, 'warn', advice)], report: null }
  }
  const base = linkBase(config, flags, parts.environment)
  try {
    // A server reports to a reader of its keys only.
    if (key === null) return { findings: [await readyFinding(base, parts.clock)], report: null }
    const proof = reportProof(key, parts.clock.now())
    const headers = { 'X-Forwarded-For': forgedAddress, [reportHeader]: proof }
    const answer = await ask(`${base}/healthz`, headers, parts.clock)
    const { [reportHeader]: header } = answer.headers
    const report = typeof header === 'string' ? readReport(header) : null
    if (report === null) {
      const what = `${base} answers ${answer.status}, and not as the server of this state folder`
      const advice =
        'check --public-url, --state and the proxy; restart a server of an older release'
      return { findings: [finding(check, what, 'fail', advice)], report }
    }
    const findings = [
      await readyFinding(base, parts.clock),
      ...releaseFindings(parts.version, report),
      ...proxyFindings(base, report, answer.localPort),
    ]
    return { findings, report }
  } catch (cause) {
    const advice = 'check the public URL, its DNS, certificate, proxy and firewall'
    const what = `${base} can't be reached from here: ${reasonOf(cause)}`
    return { findings: [finding(check, what, 'fail', advice)], report: null }
  }
}

/** A GET over a connection of its own, without redirects. @throws the system's error */
async function ask(url: string, headers: Readonly<Record<string, string>>, clock: Clock) {
  const signal = abortAfter(clock, askMsMax)
  const send = url.startsWith('https:') ? askHttps : askHttp
  const request = send(url, { headers, signal, agent: false })
  request.end()
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  const { localPort } = answer.socket
  const body = await text(answer)
  return { status: answer.statusCode, headers: answer.headers, body, localPort }
}

async function readyFinding(base: string, clock: Clock): Promise<Finding> {
  const { status, body } = await ask(`${base}/readyz`, {}, clock)
  const what = `${base}/readyz answers ${status}`
  if (status !== 200) return finding('server', what, 'fail', 'the log of the server says why')
  const state = /"reload":"refused"|"data":"damaged"/.exec(body)?.[0]
  if (state === undefined) return finding('server', what)
  const stated = `${what}, ${state.replaceAll('"', '')}`
  return finding('server', stated, 'warn', 'das dataset list says why')
}

function releaseFindings(version: string, report: ServerReport): readonly Finding[] {
  if (report.version === version) return []
  const what = `it runs release ${report.version}, and this command is of ${version}`
  return [finding('server', what, 'warn', 'restart the server after an upgrade')]
}

/** Whether the server learns who a client is, from its report on a request to `base`. */
function proxyFindings(
  base: string,
  { request, trustProxy }: ServerReport,
  localPort: number | undefined,
): readonly Finding[] {
  const { forwardedFor, host, forwardedProto } = request
  const peer = request.peer ?? ''
  const url = new URL(base)
  const findings: Finding[] = []
  const found = (what: string, advice: string, status: Finding['status'] = 'fail') =>
    findings.push(finding('proxy', what, status, `${advice}: docs/deploying.md, "Proxy"`))
  if (request.peerPort === localPort && forwardedFor === forgedAddress) {
    return [finding('proxy', `none between this machine and ${base}`)]
  }
  const result = `every client counts as ${peer}`
  if (forwardedFor === null) {
    found(`${peer} sends no X-Forwarded-For: ${result}`, "let it send the client's address")
  } else if (!isTrusted(peer, trustProxy)) {
    found(`${peer} is not trusted: ${result}`, `--trust-proxy ${peer}`)
  } else if (forwardedFor.includes(forgedAddress)) {
    found(`${peer} passes on what clients write in X-Forwarded-For`, 'let it replace the header')
  }
  if (host !== url.host && host !== url.hostname) {
    found(`the host ${url.host} arrives as ${host}: /mcp may refuse it`, 'let it pass Host on')
  }
  if (forwardedProto !== url.protocol.slice(0, -1)) {
    const what = `X-Forwarded-Proto is ${forwardedProto ?? 'missing'} for ${url.protocol}//`
    found(what, 'let it send its own', 'warn')
  }
  if (findings.length > 0) return findings
  const what = `${peer} is trusted, and says that this machine is ${request.address}`
  return [finding('proxy', what)]
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

/** Whether the server has enough descriptors, and whether the engine fits in its memory. */
export function limitFindings(
  limits: Pick<ServerReport, 'openFiles' | 'memoryLimitBytes' | 'machineBytes'>,
): readonly Finding[] {
  const { openFiles, memoryLimitBytes, machineBytes } = limits
  const findings: Finding[] = []
  if (openFiles !== null && openFiles.soft < openFilesGood) {
    const advice = '`LimitNOFILE=65536` in the systemd unit, `ulimit -n 65536` in a shell'
    findings.push(finding('limits', `${openFiles.soft} open files`, 'warn', advice))
  }
  const memory = `${sizeText(memoryLimitBytes)} of ${sizeText(machineBytes)} for the engine`
  if (memoryLimitBytes >= machineBytes) {
    const advice = 'lower --memory-limit (DAS_MEMORY_LIMIT) or give the service more'
    findings.push(finding('limits', memory, 'fail', advice))
  }
  return findings.length > 0 ? findings : [finding('limits', memory)]
}

/** Whether the mail server takes letters. */
export async function mailFindings(
  config: Pick<Config, 'smtpUrl' | 'mailFrom' | 'publicUrl'>,
): Promise<readonly Finding[]> {
  try {
    const settings = readMailSettings(config)
    if (settings === null) return [finding('mail', 'off, because DAS_SMTP_URL is not set')]
    const { smtp, sender } = settings
    await checkSmtp(smtp, commandLimits)
    const what = `${smtp.host}:${smtp.port} lets letters from ${sender.address} in`
    if (config.publicUrl !== null) return [finding('mail', what)]
    const advice = 'set DAS_PUBLIC_URL to the address that users see'
    return [finding('mail', `${what}; they link to this machine`, 'warn', advice)]
  } catch (cause) {
    const advice = 'correct DAS_SMTP_URL, DAS_MAIL_FROM or the mail server'
    return [finding('mail', reasonOf(cause), 'fail', advice)]
  }
}

/** Whether letters wait for longer than a try takes, or were given up. */
export function letterFindings(facts: ControlFacts, now: number): readonly Finding[] {
  const { waiting, failedLetters } = facts
  const findings: Finding[] = []
  if (waiting.oldestAt !== null && now - waiting.oldestAt > letterWaitMsMax) {
    const what = `${waiting.count} waiting, the oldest since ${minute(waiting.oldestAt)}`
    const advice = 'das mail list says why; das mail send tries again'
    findings.push(finding('mail', what, 'warn', advice))
  }
  if (failedLetters > 0) {
    const advice = 'das mail list says why; give the tokens to their subscribers yourself'
    findings.push(finding('mail', `${failedLetters} given up`, 'warn', advice))
  }
  return findings
}

/** The registry or null, and whether it is valid and the one that the server uses. */
export async function examineRegistry(path: string, reports: Reports | null) {
  const check = 'registry'
  try {
    const registry = await readRegistry(path)
    const refusal = reports?.registry?.reason ?? null
    if (refusal !== null) {
      const what = `the server refuses the present one: ${oneLine(refusal)}`
      const advice = 'correct it; das dataset reload'
      return { registry, findings: [finding(check, what, 'fail', advice)] }
    }
    const ignored = registry.warnings.map((line) => finding(check, line, 'warn'))
    const findings = ignored.length > 0 ? ignored : [finding(check, `${path} is valid`)]
    return { registry, findings }
  } catch (cause) {
    if (!(cause instanceof RegistryError)) throw cause
    const findings = cause.problems.map((each) => finding(check, oneLine(each), 'fail'))
    return { registry: null, findings }
  }
}

/** Whether the server serves every dataset, as it last reported. */
export function datasetFindings(
  registry: Registry | null,
  reports: Reports | null,
): readonly Finding[] {
  const check = 'datasets'
  const listed = listedDatasets(registry, reports?.datasets ?? [])
  if (listed.length === 0) {
    // That it can't be read is said of the registry.
    if (registry === null) return []
    return [finding(check, 'none is in the registry', 'warn', 'das dataset add FILE')]
  }
  const wrong = listed
    .filter(({ status, reason }) => status !== 'serving' || reason !== null)
    .map(({ name, status, reason }) => {
      const what = `${name} is ${status}${reason === null ? '' : `: ${oneLine(reason)}`}`
      const level = status === 'unavailable' ? 'fail' : 'warn'
      return finding(check, what, level, 'das dataset check says more')
    })
  return wrong.length > 0 ? wrong : [finding(check, `${listed.length} served`)]
}

/** Free space of the disks with the state and the data. */
export async function diskFindings(
  state: string,
  registry: Registry | null,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const seen = new Set<number>()
  for (const folder of [state, ...(await dataFolders(registry))]) {
    const found = await stat(folder).catch(() => null)
    if (!found || seen.has(found.dev)) continue
    seen.add(found.dev)
    findings.push(spaceFinding(folder, await statfs(folder), folder === state))
  }
  return findings
}

/** Whether a disk has room; the service only reads a disk without its state. */
export function spaceFinding(
  folder: string,
  { bsize, blocks, bavail }: { bsize: number; blocks: number; bavail: number },
  hasState: boolean,
): Finding {
  const free = `${sizeText(bavail * bsize)} of ${sizeText(blocks * bsize)} free at ${folder}`
  const advice = 'docs/runbook.md, "The disk is full", says what may go'
  if (bavail * bsize < freeBytesMin) {
    return finding('disk', free, hasState ? 'fail' : 'warn', advice)
  }
  return bavail < freeShareGood * blocks
    ? finding('disk', free, 'warn', advice)
    : finding('disk', free)
}

async function dataFolders(registry: Registry | null): Promise<readonly string[]> {
  if (registry === null) return []
  const patterns = [...registry.datasets.values()].flatMap(({ files }) => listOf(files))
  const split = await Promise.all(patterns.map((each) => splitPattern(registry.folder, each)))
  return [...new Set(split.map(({ base }) => base))]
}
