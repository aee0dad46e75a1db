import { availableParallelism, tmpdir } from 'node:os'
import { defaultMemory } from '../../src/machine.js'
import { readConfig } from '../../src/config.js'
import { optionalText, text, toggle, UsageError, whole } from '../harness/options.js'
import type { Option, OptionValues } from '../harness/options.js'
import { workloads } from './questions.js'

/** All that `--only` can choose from. */
const parts: readonly string[] = [...workloads.map(({ name }) => name), 'W6', 'W7', 'overhead']
const numberMax = 100_000_000

const only: Option<readonly string[]> = {
  placeholder: 'W1,W2',
  help: `these alone, of ${parts.join(', ')}`,
  read: (given = parts.join(), flag) => {
    const names = given.split(',')
    const unknown = names.find((name) => !parts.includes(name))
    if (unknown === undefined) return names
    throw new UsageError(`${flag} must be of ${parts.join(', ')}, got "${unknown}"`)
  },
}

/** Sizes are written like the server's own setting. */
const memoryLimitBytes: Option<number> = {
  placeholder: 'S',
  help: "of our server, e.g. 4GB (default: its own, 60 % of the machine's)",
  read: (given) => {
    try {
      return readConfig({ memoryLimit: given }, {}).memoryLimit ?? defaultMemory()
    } catch (cause) {
      throw new UsageError(cause instanceof Error ? cause.message : String(cause))
    }
  },
}

const options = {
  source: optionalText('files that generate-financials.ts has made, instead of new ones'),
  companies: whole('new files of so many, about 6.65 rows each', 100_000, 1, numberMax),
  keep: optionalText('the folder of registry, state and packed copy; kept, and used again'),
  folder: text('where files are made', tmpdir()),
  peers: text('a Python environment with the peers', '.venv-bench'),
  installPeers: toggle('makes that environment first; needs Python 3.10 or newer'),
  dasOnly: toggle('no peers'),
  only,
  rounds: whole('of W1 to W5', 30, 1, numberMax),
  pages: whole('of the walk', 500, 1, numberMax),
  peerPages: whole("of the peers' walks", 200, 1, numberMax),
  seconds: whole('of W7, for each server', 20, 1, numberMax),
  minutes: whole('of a mixed load, during which memory is watched', 0, 0, numberMax),
  memoryLimit: memoryLimitBytes,
  serverCores: optionalText(
    'the cores of servers and engines; the clients keep those of this process (taskset)',
  ),
  cold: toggle("empties the system's page cache before each question (Linux, as root)"),
  json: optionalText('writes everything to a file'),
  markdown: optionalText('writes the tables to a file'),
}

/** What the command line asks for. */
export type Options = OptionValues<typeof options>

/** `npm run bench`. */
export const command = {
  name: 'bench',
  usage: 'npm run bench --',
  about: `Measures the built server over HTTP beside the bare engine in a loop (the limit), ROAPI and a
FastAPI + DuckDB server of 60 lines; on yearly files as they were dropped, and on packed ones. All
are asked the same questions in turns, and their answers are compared:
${workloads.map(({ name, title }) => `  ${name}  ${title}`).join('\n')}
  W6  a walk over everything in pages of 1000 rows: das by cursor, peers by OFFSET
  W7  W1 from 16 connections, always about another company
  overhead  W1 beside the product's own engine without a server
The exit code is 1 when an answer of das is wrong.`,
  options,
  footer: `The clients share the machine's cores (${availableParallelism()} here) with the servers, unless they are
separated: taskset -c 1 npm run bench -- --server-cores 0`,
}
