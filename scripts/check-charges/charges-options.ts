import { randomInt } from 'node:crypto'
import { readFlags, wholeNumber } from '../harness/options.js'

/** What the command line asks for. */
export interface Options {
  readonly cycles: number
  readonly clients: number
  readonly seed: number
  readonly isJson: boolean
}

const cyclesMax = 100_000
const clientsMax = 256
const seedMax = 2 ** 32 - 1

/** The text of --help. */
export const help = `Usage: npm run check:charges -- [options]

Kills the built server again and again while clients read, and checks after every kill that
  delivered ≤ charged ≤ attempted
for each subscription and dataset, that no quota is passed, that no charge is lost and that the
database is whole; and, in a phase without a crash before and after, that charged = delivered.
A row of an answer that a kill cut off counts as delivered when it arrived. An explanation of an
empty answer over MCP counts as the row that it costs.
Exit code 1 with the counter-example when the rule is broken; its folder is kept.

  --cycles N   kills (default 500)
  --clients N  clients that ask at the same time (default 16)
  --seed N     repeats a run's questions and delays (default: any)
  --json       the summary as JSON
  --help       this text

Example: npm run check:charges -- --cycles 20 --seed 7
`

const flags = {
  cycles: { type: 'string', default: '500' },
  clients: { type: 'string', default: '16' },
  seed: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean' },
} as const

/** @throws UsageError for what it can't understand; null stands for --help */
export function readOptions(argv: readonly string[]): Options | null {
  const values = readFlags(argv, flags)
  if (values.help) return null
  return {
    cycles: wholeNumber('--cycles', values.cycles, 1, cyclesMax),
    clients: wholeNumber('--clients', values.clients, 1, clientsMax),
    seed: wholeNumber('--seed', values.seed ?? String(randomInt(seedMax)), 0, seedMax),
    isJson: values.json,
  }
}
