import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import closeWithGrace from 'close-with-grace'
import type { ServerRun } from './cli/parts.js'
import { runCli } from './cli/program.js'

/** Above what `App.close` takes at most: when it is over, something hangs. */
const stopMsMax = 15_000
/** Ctrl-C reaches a process under npm twice, from the terminal and from npm. */
const sameSignalMs = 500

/**
 * Stops once, by SIGTERM, SIGINT and the like, or by an error that nobody caught, and ends the
 * process: code 0, or 1 after an error. A second signal ends it at once. Signals are heard before
 * anything is started, so that none finds a listening server without its manners.
 */
async function untilStopped({ start, stop, reload }: ServerRun): Promise<never> {
  // Of a terminal it says that the window is closed; of a service manager, to read the registry.
  const isTerminal = process.stdin.isTTY
  const grace = closeWithGrace(
    {
      delay: stopMsMax,
      logger: false,
      skip: [
        // A start that failed ends the process by itself, with its own exit code.
        'beforeExit',
        // Counted here, so that one Ctrl-C is not taken for two.
        'SIGINT',
        'SIGTERM',
        ...(isTerminal ? [] : (['SIGHUP'] as const)),
        // Real ones come from native code, after which no JavaScript may run: let them kill.
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
  let stoppedAt: number | undefined
  const onSignal = () => {
    if (stoppedAt === undefined) {
      stoppedAt = performance.now()
      grace.close()
    } else if (performance.now() - stoppedAt > sameSignalMs) {
      process.exit(1)
    }
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  if (!isTerminal) {
    process.on('SIGHUP', () => {
      void reload()
    })
  }
  await start()
  return new Promise(() => undefined)
}

/** Stops the work by SIGTERM or SIGINT; a second signal ends the process at once. */
async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interruption = new AbortController()
  let stoppedAt: number | undefined
  const onSignal = (name: NodeJS.Signals) => {
    if (stoppedAt === undefined) {
      stoppedAt = performance.now()
      interruption.abort(new Error(`Stopped by ${name}.`))
    } else if (performance.now() - stoppedAt > sameSignalMs) {
      process.exit(1)
    }
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  try {
    return await work(interruption.signal)
  } finally {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}

/** A reader that went away (`das token list | head -1`) is no fault; a server goes on serving. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

/** Engine and server, loaded by the commands that need them: the others start twice as fast. */
function loadApp() {
  return import('./app.js')
}

function loadReading() {
  return import('./app/reading.js')
}

function loadPacker() {
  return import('./engine/duckdb/pack/pack.js')
}

function loadSampling() {
  return import('./app/sampling.js')
}

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** Beside the program, where the build puts it. */
const portalFolder = fileURLToPath(new URL('portal', import.meta.url))

process.stdout.on('error', ignoreClosedPipe)
process.stderr.on('error', ignoreClosedPipe)

process.exitCode = await runCli(process.argv.slice(2), {
  version: readVersion(),
  environment: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  now: () => Date.now(),
  buildApp: async (config, parts) => (await loadApp()).buildApp(config, { ...parts, portalFolder }),
  openFiles: (memory) => async (paths, bounds) =>
    (await loadReading()).openerFor(memory)(paths, bounds),
  withSample: (memory) => async (version, columns, use) =>
    (await loadSampling()).samplerFor(memory)(version, columns, use),
  openReader: async (registry, dataset, memory) =>
    (await loadReading()).openReader(registry, dataset, memory),
  packFiles: async (order, options) => (await loadPacker()).duckDbPacker()(order, options),
  untilInterrupted,
  inspectFiles: (memory) => async (order, options) =>
    (await loadReading()).inspectorFor(memory)(order, options),
  measureGain: (memory) => async (version, signal) =>
    (await loadReading()).gainFor(memory)(version, signal),
  untilStopped,
})
