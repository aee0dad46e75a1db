import { constants } from 'node:os'
import { Cleanup } from './cleanup.js'
import { helpText, readOptions, UsageError } from './options.js'
import type { Command, OptionTable, OptionValues } from './options.js'
import { startProgress } from './progress.js'
import type { Progress } from './progress.js'

/** What a script has while it runs. */
export interface Run extends Progress {
  readonly cleanup: Cleanup
}

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
  const progress = startProgress(command.name)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      progress.log('stopping')
      const exit = () => process.exit(128 + constants.signals[signal])
      void cleanup.closeAll('stopped').finally(exit)
    })
  }
  try {
    const options = readOptions(command.options, argv)
    if (options) await work(options, { ...progress, cleanup })
    else progress.print(helpText(command))
  } catch (cause) {
    // What a stop breaks off is not a failure.
    if (cleanup.signal.aborted) return
    progress.log(cause instanceof Error ? cause.message : String(cause))
    if (cause instanceof UsageError) process.stderr.write(`Usage: ${command.usage} [options]\n`)
    process.exitCode = cause instanceof UsageError ? 2 : 1
  } finally {
    await cleanup.closeAll(process.exitCode ? 'failed' : 'passed')
  }
}
