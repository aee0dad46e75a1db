import { requireBuild } from '../harness/fixture.js'
import { seed } from '../harness/options.js'
import type { Option, OptionTable, OptionValues } from '../harness/options.js'
import { factsText } from '../harness/report.js'
import { runScript } from '../harness/script.js'
import type { Run } from '../harness/script.js'

/** What a run showed, one a line. */
export type Facts = readonly (readonly [name: string, fact: string])[]

/** Every scenario takes it. */
interface Seeded {
  readonly seed: Option<number>
}

/** The values of a scenario's options. */
export type Given<T extends OptionTable> = OptionValues<T & Seeded>

interface Scenario<T extends OptionTable> {
  readonly name: string
  /** What happens, and what must hold. */
  readonly about: string
  /** Beside `seed`, which every scenario has. */
  readonly options: T
  /** Makes data and clients, disturbs the server, and returns what was found; throws what does not hold. */
  readonly check: (given: Given<T>, run: Run) => Promise<Facts>
}

/** A scenario that the command line can run. */
export interface Check {
  readonly name: string
  readonly options: OptionTable
  readonly run: (argv: readonly string[]) => Promise<void>
}

/** One way to load or disturb the built server; its exit code is 1 where a rule is broken. */
export function scenario<T extends OptionTable>({ name, about, check, ...of }: Scenario<T>): Check {
  const options: T & Seeded = { ...of.options, seed: seed("repeats a run's choices") }
  const command = { name: `check-${name}`, usage: `npm run check:${name} --`, about, options }
  const run = (argv: readonly string[]) =>
    runScript(
      command,
      async (given, parts) => {
        requireBuild()
        parts.log(`seed ${given.seed}`)
        const startedMs = performance.now()
        const facts = await check(given, parts)
        const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
        parts.print(factsText([['wall time', `${seconds} s`], ...facts]))
      },
      argv,
    )
  return { name, options, run }
}
