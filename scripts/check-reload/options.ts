import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

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

/** The command line can't be understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
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

/** @throws UsageError for what it can't understand; null stands for --help */
export function readOptions(argv: readonly string[]): Options | null {
  const { values } = parse(argv)
  if (values.help) return null
  const number = (name: keyof typeof values, usual: number, min: number, max: number) =>
    wholeNumber(`--${name}`, String(values[name] ?? usual), min, max)
  return {
    refreshes: number('refreshes', 100, 1, changesMax),
    edits: number('edits', 100, 0, changesMax),
    bad: number('bad', 20, 0, changesMax),
    clients: number('clients', 16, 1, clientsMax),
    secondsMax: number('seconds-max', 1800, 1, secondsMaxMax),
    seed: number('seed', randomInt(seedMax), 0, seedMax),
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        refreshes: { type: 'string' },
        edits: { type: 'string' },
        bad: { type: 'string' },
        clients: { type: 'string' },
        'seconds-max': { type: 'string' },
        seed: { type: 'string' },
        help: { type: 'boolean' },
      },
    })
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause))
  }
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= min && number <= max) return number
  throw new UsageError(`${name} is a whole number from ${min} to ${max}, not "${text}"`)
}
