import { availableParallelism } from 'node:os'
import { optionalText, toggle, UsageError, whole } from '../harness/options.js'
import type { Command, Option, OptionTable, OptionValues } from '../harness/options.js'

/** The first and the last seed of several. */
interface Seeds {
  readonly first: number
  readonly last: number
}

const options = {
  seed: whole('the seed of one run', 1, 0, 2 ** 32 - 1),
  seeds: seedRange('runs these seeds instead of one, without their lines'),
  days: whole('simulated days of each seed', 30, 1, 10_000),
  jobs: whole('processes side by side, by default one a core', availableParallelism(), 1, 64),
  twice: toggle('run each seed twice and compare every line'),
  plan: optionalText('run a kept plan instead of a seed', 'FILE'),
} as const satisfies OptionTable

export type Options = OptionValues<typeof options>

export const command: Command<typeof options> = {
  name: 'simulate',
  usage: 'npm run simulate --',
  about: `Runs the service in a simulated world: its clock, random numbers, disk, mail and kills come from
a seed, so a run is the same each time. One line an event; every promise is checked after each.
A plan that breaks one is made smaller and printed, ready for scripts/simulate/kept/.`,
  options,
  footer: `Examples:
  npm run simulate -- --seed 7 --days 100            one seed, line by line
  npm run simulate -- --seeds 1..1000 --days 100     many seeds
  npm run simulate -- --plan scripts/simulate/kept/NAME.json`,
}

function seedRange(help: string): Option<Seeds | null> {
  return {
    placeholder: 'A..B',
    help,
    read: (text, flag) => {
      if (text === undefined) return null
      const [, first, last] = /^(\d{1,9})\.\.(\d{1,9})$/.exec(text) ?? []
      if (first !== undefined && last !== undefined && Number(first) <= Number(last)) {
        return { first: Number(first), last: Number(last) }
      }
      throw new UsageError(`${flag} must be like 1..20, got "${text}"`)
    },
  }
}
