import { UsageError } from './options.js'

/** Runs a script: what goes wrong is said, and ends with 2 where it was asked for wrongly, else 1. */
export async function runScript(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (cause) {
    process.stderr.write(`${name}: ${cause instanceof Error ? cause.message : String(cause)}\n`)
    process.exitCode = cause instanceof UsageError ? 2 : 1
  }
}
