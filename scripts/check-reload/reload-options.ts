import { randomInt } from 'node:crypto'
import { readFlags, wholeNumber } from '../harness/options.js'

/** What the command line asks for. */
export interface Options {
  readonly refreshes: number
  readonly edits: number
  readonly bad: number
  readonly clients: number
  /** No phase and no change is begun after this long. */
  readonly secondsMax: number
  readonly seed: number
}

const changesMax = 100_000
const clientsMax = 256
const secondsMaxMax = 86_400
const seedMax = 2 ** 32 - 1

/** The text of --help. */
export const help = `Usage: npm run check:reload -- [options]

Replaces files, edits the registry and drops bad files under the built server while clients read,
and checks every row of every answer:
  1  refreshes by rename, edits, bad files, half of them with pack: auto: no request may fail
  2  files overwritten in place: right rows, or 503 for a moment; nothing torn
  3  a server that may only read the sources, so that links are refused: copies (root on Linux)
  4  pack: auto switched on, SIGHUP, kill -9: walks go on where they were
Exit code 1 with the counter-example when a rule is broken; its folder is kept.

  --refreshes N    refreshes of phase 1 (default 100)
  --edits N        registry edits of phase 1 (default 100)
  --bad N          bad files of phase 1 (default 20)
  --clients N      clients that ask at the same time (default 16)
  --seconds-max N  begin nothing new after so many seconds (default 1800)
  --seed N         repeats a run's choices (default: any)
  --help           this text

Example: npm run check:reload -- --refreshes 10 --edits 10 --bad 5
`

const flags = {
  refreshes: { type: 'string', default: '100' },
  edits: { type: 'string', default: '100' },
  bad: { type: 'string', default: '20' },
  clients: { type: 'string', default: '16' },
  'seconds-max': { type: 'string', default: '1800' },
  seed: { type: 'string' },
  help: { type: 'boolean' },
} as const

/** @throws UsageError for what it can't understand; null stands for --help */
export function readOptions(argv: readonly string[]): Options | null {
  const values = readFlags(argv, flags)
  if (values.help) return null
  return {
    refreshes: wholeNumber('--refreshes', values.refreshes, 1, changesMax),
    edits: wholeNumber('--edits', values.edits, 0, changesMax),
    bad: wholeNumber('--bad', values.bad, 0, changesMax),
    clients: wholeNumber('--clients', values.clients, 1, clientsMax),
    secondsMax: wholeNumber('--seconds-max', values['seconds-max'], 1, secondsMaxMax),
    seed: wholeNumber('--seed', values.seed ?? String(randomInt(seedMax)), 0, seedMax),
  }
}
