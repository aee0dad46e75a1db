import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import closeWithGrace from 'close-with-grace'
import { openObjects } from './app/open-objects.js'
import type { ServerRun } from './cli/parts.js'
import { machineClock } from './clock.js'
import { runCli } from './cli/program.js'
import { machineRandom } from './random.js'

/** Longer than `App.close` ever takes; after it, the process is ended. */
const stopMsMax = 15_000
/** Under npm, Ctrl-C sends two signals: one from the terminal and one from npm. */
const sameSignalMs = 500
/** The garbage of JavaScript that waits to be collected, as a share of the memory in use. */
const garbagePercent = 50

/**
 * Runs the server until SIGTERM, SIGINT or an uncaught error, stops it and ends the process: code
 * 0, or 1 after an error. A second signal ends the process at once. The handlers are set before the
 * start, so that an early signal also stops the server properly.
 */
async function untilStopped({ start, stop, drainMs, reload }: ServerRun): Promise<never> {
  // SIGHUP means a closed window on a terminal, and a reload under a service manager.
  const isTerminal = process.stdin.isTTY
  const grace = closeWithGrace(
    {
      delay: drainMs + stopMsMax,
      logger: false,
      skip: [
        // A failed start ends the process with its own exit code.
        'beforeExit',
        // Handled below, so that one Ctrl-C does not count as two.
        'SIGINT',
        'SIGTERM',
        ...(isTerminal ? [] : (['SIGHUP'] as const)),
        // They come from native code, after which JavaScript must not run.
        'SIGILL',
        'SIGTRAP',
        'SIGABRT',
        'SIGBUS',
        'SIGFPE',
        'SIGSEGV',
      ],
    },
    ({ err }) => stop(err),
  )
  onStopSignal(() => {
    grace.close()
  })
  if (!isTerminal) {
    process.on('SIGHUP', () => {
      void reload()
    })
  }
  // By default it grows to several times the memory in use, the more the busier the server is.
  setFlagsFromString(`--heap-growing-percent=${garbagePercent}`)
  await start()
  return new Promise(() => undefined)
}

/** Runs the work; SIGTERM or SIGINT aborts its signal, a second one ends the process at once. */
async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interruption = new AbortController()
  const removeHandlers = onStopSignal((name) => {
    interruption.abort(new Error(`Stopped by ${name}.`))
  })
  try {
    return await work(interruption.signal)
  } finally {
    removeHandlers()
  }
}

/** Calls `stop` at the first SIGINT or SIGTERM; returns a function that removes the handlers. */
function onStopSignal(stop: (name: NodeJS.Signals) => void): () => void {
  let stoppedAt: number | undefined
  const onSignal = (name: NodeJS.Signals) => {
    if (stoppedAt === undefined) {
      stoppedAt = machineClock.monotonicMs()
      stop(name)
    } else if (machineClock.monotonicMs() - stoppedAt > sameSignalMs) {
      process.exit(1)
    }
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return () => {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}

/** A reader that ends early (`das token list | head -1`) is not an error. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

/** Only commands that need the engine and the server load them: the others start twice as fast. */
function loadApp() {
  return import('./app.js')
}

function loadReading() {
  return import('./app/reading.js')
}

function loadPacker() {
  return import('./engine/duckdb/pack/make-forms.js')
}

function loadSampling() {
  return import('./app/sampling.js')
}

function loadImporter() {
  return import('./app/import-process.js')
}

/** A function of a module that is loaded with its first call; all parameters are passed on. */
function loaded<Module, Parameters extends readonly unknown[], Result>(
  load: () => Promise<Module>,
  choose: (module: Module) => (...parameters: Parameters) => Promise<Result>,
): (...parameters: Parameters) => Promise<Result> {
  return async (...parameters) => choose(await load())(...parameters)
}

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** The OS user of this process, and who called sudo, if anybody did. */
function readUser(): string {
  const caller = process.env['SUDO_USER']
  try {
    const { username } = userInfo()
    return caller === undefined ? username : `${username} (sudo: ${caller})`
  } catch {
    // A container may run as a user without a name.
    return `uid ${process.getuid?.()}`
  }
}

/** The build puts it beside the program. */
const portalFolder = fileURLToPath(new URL('portal', import.meta.url))

process.stdout.on('error', ignoreClosedPipe)
process.stderr.on('error', ignoreClosedPipe)

process.exitCode = await runCli(process.argv.slice(2), {
  version: readVersion(),
  environment: process.env,
  pid: process.pid,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  user: readUser(),
  clock: machineClock,
  random: machineRandom,
  buildApp: async (config, parts) => (await loadApp()).buildApp(config, { ...parts, portalFolder }),
  openFiles: (memory) => loaded(loadReading, ({ openerFor }) => openerFor(memory)),
  withSample: (memory) => loaded(loadSampling, ({ samplerFor }) => samplerFor(memory)),
  openReader: loaded(loadReading, ({ openReader }) => openReader),
  openObjects: (config, options) => openObjects(config, options),
  openTable: (config, clock) =>
    loaded(loadReading, ({ openerForTables }) => openerForTables(config, clock)),
  makeForms: loaded(loadPacker, ({ makeForms }) => makeForms),
  importTable: loaded(loadImporter, ({ importAside }) => importAside),
  untilInterrupted,
  inspectFiles: (memory) => loaded(loadReading, ({ inspectorFor }) => inspectorFor(memory)),
  untilStopped,
})
