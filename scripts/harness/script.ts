import { constants } from 'node:os'
import { helpText, readOptions, UsageError } from './options.js'
import type { Command, OptionTable, OptionValues } from './options.js'

/** What a script has while it runs. */
export interface Run {
  readonly cleanup: Cleanup
  /** A line to stderr, with the script's name. */
  readonly log: (words: string) => void
  /**
   * What runs now: on a terminal each line replaces the one before, elsewhere only milestones are
   * written.
   */
  readonly update: (words: string, isMilestone?: boolean) => void
  /** Text to stdout, as it is. */
  readonly print: (text: string) => void
}

/** How a script came to its end. */
type Ending = 'passed' | 'failed' | 'stopped'

type Close = (ending: Ending) => Promise<unknown>

const clearLine = '\r\u001b[K'

/**
 * Runs a script and closes what it opened. The exit code is 0, 1 after a failure, 2 after a wrong
 * command line, and 128 + the signal after SIGINT or SIGTERM.
 */
export async function runScript<T extends OptionTable>(
  command: Command<T>,
  work: (options: OptionValues<T>, run: Run) => Promise<void>,
  argv: readonly string[] = process.argv.slice(2),
): Promise<void> {
  const cleanup = new Cleanup()
  const run = startRun(command.name, cleanup)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      run.log('stopping')
      const exit = () => process.exit(128 + constants.signals[signal])
      void cleanup.closeAll('stopped').finally(exit)
    })
  }
  try {
    const options = readOptions(command.options, argv)
    if (options) await work(options, run)
    else run.print(helpText(command))
  } catch (cause) {
    // What a stop breaks off is not a failure.
    if (cleanup.signal.aborted) return
    run.log(cause instanceof Error ? cause.message : String(cause))
    if (cause instanceof UsageError) process.stderr.write(`Usage: ${command.usage} [options]\n`)
    process.exitCode = cause instanceof UsageError ? 2 : 1
  } finally {
    await cleanup.closeAll(process.exitCode ? 'failed' : 'passed')
  }
}

/** What a script must close or remove, however it ends. */
export class Cleanup {
  readonly #closers = new Set<Close>()
  readonly #stopping = new AbortController()
  #closing: Promise<void> | null = null

  /** Aborts when the script is stopped. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /** Registers how to close something; the function returned forgets it again. */
  add(close: Close): () => void {
    this.#closers.add(close)
    return () => this.#closers.delete(close)
  }

  /** Closes everything once, the newest first. */
  closeAll(ending: Ending = 'passed'): Promise<void> {
    if (ending === 'stopped') this.#stopping.abort(new Error('stopped'))
    this.#closing ??= this.#close(ending)
    return this.#closing
  }

  async #close(ending: Ending): Promise<void> {
    for (let close = [...this.#closers].at(-1); close; close = [...this.#closers].at(-1)) {
      this.#closers.delete(close)
      await close(ending)
    }
  }
}

function startRun(name: string, cleanup: Cleanup): Run {
  const { stdout, stderr } = process
  const clear = stderr.isTTY ? clearLine : ''
  const log = (words: string) => {
    stderr.write(`${clear}${name}: ${words}\n`)
  }
  const update = (words: string, isMilestone = true) => {
    if (stderr.isTTY) stderr.write(`${clear}${name}: ${words}`)
    else if (isMilestone) log(words)
  }
  const print = (text: string) => {
    stderr.write(clear)
    stdout.write(text)
  }
  return { cleanup, log, update, print }
}
