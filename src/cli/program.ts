import { Command } from 'commander'
import { addBackup } from './backup-command.js'
import { exampleText } from './command.js'
import { addDataset } from './dataset/dataset-command.js'
import { exitFailureOf } from './exit-failure.js'
import { addExplain } from './explain-command.js'
import { addMail } from './mail/mail-command.js'
import type { CliParts, Output } from './parts.js'
import { addQuery } from './query/query-command.js'
import { addServe } from './serve-command.js'
import { addSubscription } from './subscription/subscription-command.js'
import { addToken } from './token/token-command.js'
import { addUsage } from './usage-command.js'

/**
 * Runs one command line and returns the process's exit code: 0, 1 (failed) or 2 (wrong usage).
 * Errors are lines on stderr; a stack is added when DAS_LOG_LEVEL is debug or trace.
 */
export async function runCli(argv: readonly string[], given: CliParts): Promise<number> {
  const parts = { ...given, stderr: withoutTokens(given.stderr) }
  try {
    await buildProgram(parts).parseAsync(argv, { from: 'user' })
    return 0
  } catch (cause) {
    const { exitCode, lines } = exitFailureOf(cause)
    for (const line of lines) parts.stderr.write(`${line}\n`)
    if (exitCode !== 0 && isDebugging(parts)) parts.stderr.write(`${stackOf(cause)}\n`)
    return exitCode
  }
}

/** Every command of `das`; commander's own errors are thrown, not answered by an exit. */
export function buildProgram(parts: CliParts): Command {
  const program = new Command('das')
    .description('Sell and serve read-only access to Parquet datasets, from one box.')
    .version(parts.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help, of a command its own')
    .helpCommand('help [command]', 'print the help of a command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => parts.stdout.write(text),
      writeErr: (text) => parts.stderr.write(text),
    })
  addServe(program, parts)
  addSubscription(program, parts)
  addToken(program, parts)
  addUsage(program, parts)
  addExplain(program, parts)
  addQuery(program, parts)
  addBackup(program, parts)
  addMail(program, parts)
  addDataset(program, parts)
  program.addHelpText('after', tour)
  return program
}

const tour = `
A short tour:
  1. List your Parquet files in registry.yaml, and look whether they can be served:
       $ das dataset check
  2. Serve them:
       $ das serve
  3. Sell access; the new token works at once:
       $ das subscription create --email buyer@example.org --plan financials:pro --months 12
  4. See what was sold and used, and replace a token that was lost:
       $ das subscription list
       $ das subscription show sub_…
       $ das token reissue sub_… --grace 24h

Commands work while the server runs. Settings are flags, then DAS_* variables, then defaults:
\`das serve --help\` lists them. Exit codes: 0, 1 (failed), 2 (wrong usage).
${exampleText(['das subscription create --help'])}`

/** An operator's typing slip must not leave a subscriber's token in a log of errors. */
function withoutTokens(output: Output): Output {
  return {
    write: (text) => output.write(text.replaceAll(/das_live_[0-9A-Za-z]+/g, '[token]')),
    isTTY: output.isTTY,
  }
}

function isDebugging({ environment }: CliParts): boolean {
  return ['debug', 'trace'].includes(environment['DAS_LOG_LEVEL'] ?? '')
}

function stackOf(cause: unknown): string {
  if (!(cause instanceof Error)) return ''
  const below = cause.cause === undefined ? '' : `\ncaused by: ${stackOf(cause.cause)}`
  return (cause.stack ?? '') + below
}
