import { Command } from 'commander'
import { withoutTokens } from '../control/tokens/token-format.js'
import { badRequest } from '../errors.js'
import { addAudit } from './audit-command.js'
import { addBackup } from './backup-command.js'
import { exampleText } from './command.js'
import { addConnection } from './connection-command.js'
import { addControl } from './control-command.js'
import { addDatasetCommands, addInit } from './dataset/dataset-command.js'
import { addDirectory } from './directory-command.js'
import { addDoctor } from './doctor/doctor-command.js'
import { addEnrich } from './enrich/enrich-command.js'
import { exitFailureOf } from './exit-failure.js'
import { addExplain } from './explain-command.js'
import { addMail } from './mail-command.js'
import { addMigrate } from './migrate-command.js'
import { addOrder } from './order-command.js'
import type { CliParts, Output } from './parts.js'
import { addReport } from './report-command.js'
import { addServe } from './serve-command.js'
import { addSubscription } from './subscription/subscription-command.js'
import { addToken } from './token-command.js'
import { addUsage } from './usage-command.js'
import { addWebhookCommands } from './webhook-command.js'

/**
 * Runs one command line and returns the exit code: 0, 1 (failed) or 2 (wrong usage). Prints errors
 * as lines on stderr, with a stack when DAS_LOG_LEVEL is debug or trace.
 */
export async function runCli(argv: readonly string[], outer: CliParts): Promise<number> {
  const parts = { ...outer, stderr: tokenFree(outer.stderr) }
  try {
    refuseGone(argv)
    await buildProgram(parts).parseAsync(argv, { from: 'user' })
    return 0
  } catch (cause) {
    const { exitCode, lines } = exitFailureOf(cause)
    for (const line of lines) parts.stderr.write(`${line}\n`)
    const isDebugging = ['debug', 'trace'].includes(parts.environment['DAS_LOG_LEVEL'] ?? '')
    if (exitCode !== 0 && isDebugging) parts.stderr.write(`${stackOf(cause)}\n`)
    return exitCode
  }
}

/** Every command of `das`. Errors of commander are thrown and do not end the process. */
export function buildProgram(parts: CliParts): Command {
  const program = new Command('das')
    .description('Serve Parquet datasets over REST and MCP, and sell access to them.')
    .version(parts.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help for a command')
    .helpCommand('help [command]', 'print help for a command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => parts.stdout.write(text),
      writeErr: (text) => parts.stderr.write(text),
    })
  addInit(program, parts)
  addServe(program, parts)
  addSubscription(program, parts)
  addToken(program, parts)
  addConnection(program, parts)
  addWebhookCommands(program, parts)
  addUsage(program, parts)
  addExplain(program, parts)
  addBackup(program, parts)
  addMigrate(program, parts)
  addControl(program, parts)
  addDoctor(program, parts)
  addDirectory(program, parts)
  addAudit(program, parts)
  addOrder(program, parts)
  addReport(program, parts)
  addMail(program, parts)
  addDatasetCommands(program, parts)
  addEnrich(program, parts)
  program.addHelpText('after', tour)
  return program
}

const tour = `
A short tour:
  1. Write registry.yaml from the Parquet files of a folder, and check it:
       $ das init
       $ das dataset check
  2. Serve them:
       $ das serve
  3. Sell access. The new token works at once:
       $ das subscription create --email buyer@example.org --plan financials:pro --months 12
  4. List what was sold and used, and replace a lost token:
       $ das subscription list
       $ das subscription show sub_…
       $ das token reissue sub_… --grace 24h

All commands work while the server runs. A setting is read from its flag, else from its DAS_*
variable, else it has its default; \`das serve --help\` lists all settings.
Exit codes: 0 (success), 1 (failure), 2 (wrong usage).
${exampleText(['das subscription create --help'])}`

/** A token that was typed in the wrong place must not get into an error log. */
function tokenFree(output: Output): Output {
  return {
    write: (text) => output.write(withoutTokens(text)),
    isTTY: output.isTTY,
  }
}

function stackOf(cause: unknown): string {
  if (!(cause instanceof Error)) return ''
  const below = cause.cause === undefined ? '' : `\ncaused by: ${stackOf(cause.cause)}`
  return (cause.stack ?? '') + below
}

/** Commands of the release before that are gone, and what to use in place of each. */
const goneCommands: Readonly<Record<string, string>> = {
  'connection show': 'Use das connection list --json: it has all that is known of each connection.',
  query:
    'Ask the server with curl and the header "Authorization: Bearer TOKEN": ' +
    '/v1/DATASET?COLUMN=OPERATOR.VALUE, or /v1/DATASET/export for all rows. See docs/rest.md.',
  'subscription orders': 'Use das order list --all: it has all orders, also those of the owner.',
}

/** @throws bad_request for a command that is gone, with what to use in its place */
function refuseGone(argv: readonly string[]): void {
  const line = `${argv.join(' ')} `
  const gone = Object.entries(goneCommands).find(([name]) => line.startsWith(`${name} `))
  if (gone) throw badRequest(`das ${gone[0]} is gone. ${gone[1]}`)
}
