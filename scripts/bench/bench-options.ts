import { availableParallelism, tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { defaultMemory } from '../../src/app/reading.js'
import { readConfig } from '../../src/config.js'
import { readFlags, UsageError, wholeNumber } from '../harness/options.js'
import { workloads } from './questions.js'

/** What the command line asks for. */
export interface Options {
  readonly companies: number
  readonly source: string | null
  readonly packed: string | null
  readonly folder: string
  /** A Python environment. */
  readonly peers: string
  readonly installPeers: boolean
  readonly dasOnly: boolean
  /** Names of what is measured. */
  readonly only: readonly string[]
  readonly rounds: number
  readonly pages: number
  readonly peerPages: number
  readonly seconds: number
  readonly minutes: number
  /** Of our server. */
  readonly memoryLimitBytes: number
  readonly json: string | null
  readonly markdown: string | null
}

/** All that `--only` can choose from. */
const parts: readonly string[] = [...workloads.map(({ name }) => name), 'W6', 'W7', 'overhead']

/** The text of --help. */
export const help = `Usage: npm run bench -- [options]

How quick the built server is over HTTP, beside the bare engine in a loop (the limit), ROAPI and a
FastAPI + DuckDB server of 60 lines; on yearly files as they were dropped, and on packed ones. All
are asked the same in turns, and their answers are compared:
${workloads.map(({ name, title }) => `  ${name}  ${title}`).join('\n')}
  W6  a walk over everything in pages of 1000 rows: we by cursor, peers by OFFSET
  W7  W1 from 16 connections, ever other companies
  overhead  W1 beside the product's own engine without a server
Exit code 1 when an answer of ours is wrong.

  --source F        files that generate-financials.ts has made, instead of new ones
  --companies N     new files of so many, about 6.65 rows each (default 100000)
  --packed F        a folder packed from them before, instead of packing them now
  --folder F        where files are made (default ${tmpdir()})
  --peers F         a Python environment with the peers (default .venv-bench)
  --install-peers   makes that environment first; needs Python 3.10 or newer
  --das-only        no peers
  --only W1,W2      these alone, of ${parts.join(', ')}
  --rounds N        of W1 to W5 (default 30)
  --pages N         of the walk (default 500)
  --peer-pages N    of the peers' walks (default 200)
  --seconds N       of W7, for each server (default 20)
  --minutes N       of a mixed load, during which memory is watched (default 0: none)
  --memory-limit S  of our server, as 4GB (default: its own, 60 % of the machine's)
  --json F          writes everything to a file
  --markdown F      writes the tables to a file
  --help            this text

The clients share the machine's cores (${availableParallelism()} here) with what they ask.
`

const names = {
  companies: { type: 'string', default: '100000' },
  source: { type: 'string' },
  packed: { type: 'string' },
  folder: { type: 'string', default: tmpdir() },
  peers: { type: 'string', default: '.venv-bench' },
  'install-peers': { type: 'boolean', default: false },
  'das-only': { type: 'boolean', default: false },
  only: { type: 'string', default: parts.join() },
  rounds: { type: 'string', default: '30' },
  pages: { type: 'string', default: '500' },
  'peer-pages': { type: 'string', default: '200' },
  seconds: { type: 'string', default: '20' },
  minutes: { type: 'string', default: '0' },
  'memory-limit': { type: 'string' },
  json: { type: 'string' },
  markdown: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

const numberMax = 100_000_000

/** @throws UsageError for what it can't understand; null stands for --help */
export function readOptions(argv: readonly string[]): Options | null {
  const values = readFlags(argv, names)
  if (values.help) return null
  const path = (text: string | undefined) => (text === undefined ? null : resolve(text))
  const number = (name: 'companies' | 'rounds' | 'pages' | 'peer-pages' | 'seconds') =>
    wholeNumber(`--${name}`, values[name], 1, numberMax)
  return {
    companies: number('companies'),
    source: path(values.source),
    packed: path(values.packed),
    folder: resolve(values.folder),
    peers: resolve(values.peers),
    installPeers: values['install-peers'],
    dasOnly: values['das-only'],
    only: namesOf(values.only),
    rounds: number('rounds'),
    pages: number('pages'),
    peerPages: number('peer-pages'),
    seconds: number('seconds'),
    minutes: wholeNumber('--minutes', values.minutes, 0, numberMax),
    memoryLimitBytes: memoryOf(values['memory-limit']),
    json: path(values.json),
    markdown: path(values.markdown),
  }
}

function namesOf(text: string): readonly string[] {
  const found = text.split(',')
  const unknown = found.find((name) => !parts.includes(name))
  if (unknown === undefined) return found
  throw new UsageError(`--only knows ${parts.join(', ')}, not "${unknown}"`)
}

/** Sizes are written as the server's own setting is. */
function memoryOf(text: string | undefined): number {
  try {
    return readConfig({ memoryLimit: text }, {}).memoryLimit ?? defaultMemory()
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause))
  }
}
