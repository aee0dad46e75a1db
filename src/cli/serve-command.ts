import type { Command } from 'commander'
import { pino } from 'pino'
import type { Logger } from 'pino'
import type { Clock } from '../clock.js'
import { settings } from '../config.js'
import type { Config } from '../config.js'
import { badRequest } from '../errors.js'
import { baseUrl } from '../service/first-questions.js'
import { addCommand, readSettings } from './command.js'
import type { Flags, SettingName } from './command.js'
import type { CliParts, Output, ServingApp } from './parts.js'
import { count } from './print.js'
import { stateFailure } from './state-failure.js'
import { bannerText } from './banner.js'
import { forgetAddress, noteAddress } from './server-address.js'

const everySetting = Object.keys(settings) as SettingName[]

/** `das serve`: runs the service until a signal stops it. */
export function addServe(program: Command, parts: CliParts): void {
  addCommand(program, {
    usage: 'serve',
    description:
      'Serve the datasets of registry.yaml over REST and MCP. The log is JSON lines on stdout.',
    settings: everySetting,
    json: 'print only the log, without the banner on stderr',
    examples: [
      'das serve',
      'das serve --host 0.0.0.0 --port 80 --state /var/lib/das --trust-proxy 10.0.0.0/8',
      'DAS_PORT=9000 das serve >> das.log',
    ],
  }).action((flags: Flags) => serve(parts, flags))
}

async function serve(parts: CliParts, flags: Flags): Promise<void> {
  const config = readSettings(everySetting, flags, parts.environment)
  const socket = passedSocket(parts.environment, parts.pid)
  const logger = pino({ level: config.logLevel }, { write: (line) => parts.stdout.write(line) })
  const reader = !flags.json && hasReader(parts) ? parts.stderr : null
  const app = await startApp(config, parts, logger, reader)
  const drainMs = config.drainSeconds * 1000
  let isStopping = false
  await parts.untilStopped({
    start: async () => {
      try {
        await app.startEngine()
        // A signal may come meanwhile.
        if (isStopping) return
        await listen(app, config, socket)
        if (isStopping) return
        const base = addressOf(app, config)
        orWarn(logger, 'write', () => noteAddress(config.state, base))
        if (reader) printBanner(app, config, parts)
        void app.prepare()
      } catch (cause) {
        await app.close()
        throw cause
      }
    },
    stop: async (error) => {
      isStopping = true
      if (error) logger.fatal({ err: error }, 'stopping after an error')
      else logger.info('stopping after open requests')
      orWarn(logger, 'remove', () => forgetAddress(config.state))
      if (!error) await app.drain(drainMs)
      await app.close()
      logger.info('stopped')
    },
    drainMs,
    reload: async () => {
      logger.info('reloading: SIGHUP')
      try {
        await app.reload()
      } catch (cause) {
        logger.error({ err: cause }, 'reload failed')
      }
    },
  })
}

async function startApp(
  config: Config,
  { buildApp, clock, random, version }: CliParts,
  logger: Logger,
  reader: Output | null,
): Promise<ServingApp> {
  const progress = startProgress({ logger, output: reader, clock })
  try {
    return await buildApp(config, { logger, clock, random, version, onOpened: progress.report })
  } catch (cause) {
    throw stateFailure(config.state, cause)
  } finally {
    progress.end()
  }
}

/** Whether a person reads stderr: on a terminal, or after `npm start`. */
function hasReader({ stderr, environment }: CliParts): boolean {
  return stderr.isTTY === true || environment['npm_lifecycle_event'] === 'start'
}

async function listen(
  app: ServingApp,
  { host, port }: Config,
  socket: number | null,
): Promise<void> {
  try {
    await app.server.listen({ host, port, ...(socket !== null && { fd: socket }) })
  } catch (cause) {
    throw new Error(listenFailure(cause, host, port), { cause })
  }
}

function listenFailure(cause: unknown, host: string, port: number): string {
  const code = (cause as NodeJS.ErrnoException).code ?? ''
  switch (code) {
    case 'EADDRINUSE':
      return (
        `Port ${port} of ${host} is in use. Stop the program that uses it, or choose another ` +
        'port with --port or DAS_PORT.'
      )
    case 'EACCES':
      return (
        `This user may not listen on port ${port} of ${host}. Choose a port from 1024 with ` +
        '--port or DAS_PORT.'
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `This machine has no address ${host} (${code}). Set another with --host or DAS_HOST.`
    default:
      return `Can't listen on port ${port} of ${host}: ${(cause as Error).message}`
  }
}

/** The address for users, with the port that the system chose for port 0. */
function addressOf({ server }: ServingApp, config: Config): string {
  const [bound] = server.addresses()
  return baseUrl({ ...config, port: typeof bound === 'object' ? bound.port : config.port })
}

/** Only logs a failure: other commands then build links from their settings, and a stop goes on. */
function orWarn(logger: Logger, what: 'write' | 'remove', work: () => void): void {
  try {
    work()
  } catch (cause) {
    logger.warn({ err: cause }, `can't ${what} the address for other commands`)
  }
}

function printBanner(app: ServingApp, config: Config, parts: CliParts): void {
  const text = bannerText({
    version: parts.version,
    base: addressOf(app, config),
    program: parts.environment['npm_lifecycle_event'] === 'start' ? 'npx das' : 'das',
    catalog: app.catalog(),
    registry: app.registry(),
    output: parts.stderr,
  })
  parts.stderr.write(text)
}

/** See sd_listen_fds(3): passed sockets begin after standard error. */
const firstDescriptor = 3

/**
 * The listening socket that a service manager passes to this process; null = none.
 * @throws bad_request when there are several
 */
export function passedSocket(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
): number | null {
  // A child process inherits the variables, but not the sockets.
  if (environment['LISTEN_PID'] !== String(pid)) return null
  const count = environment['LISTEN_FDS'] ?? '0'
  if (count === '1') return firstDescriptor
  throw badRequest(`LISTEN_FDS is "${count}", but das serves on one socket: pass one.`)
}

/** How long a start says nothing. */
const silenceMs = 2000
const everyMs = 5000

interface StartProgressParts {
  readonly logger: Pick<Logger, 'info'>
  /** Where a person reads; null = only the log says it. */
  readonly output: Output | null
  readonly clock: Clock
}

/** Says what a slow start does. */
export interface StartProgress {
  /** `opened` of all datasets are open. */
  readonly report: (opened: number, datasets: number) => void
  readonly end: () => void
}

/** Says after two seconds what a start does, and again every five seconds until its end. */
export function startProgress(parts: StartProgressParts): StartProgress {
  const { logger, output, clock } = parts
  let progress: { readonly opened: number; readonly datasets: number } | null = null
  const say = () => {
    if (!progress) return
    const { opened, datasets } = progress
    logger.info({ opened, datasets }, 'opening datasets')
    output?.write(`opening datasets: ${count(output, opened)} of ${count(output, datasets)}\n`)
  }
  let stop = clock.after(silenceMs, () => {
    stop = clock.every(everyMs, say)
    say()
  })
  return {
    report: (opened, datasets) => {
      progress = { opened, datasets }
    },
    end: () => stop(),
  }
}
