import { rotated } from '../bench/rounds.js'
import type { Facts } from '../bench/facts.js'
import { median } from '../harness/statistics.js'
import type { Asked, SummaryWorkload } from './questions.js'

/** A row's cells. */
export type Cells = readonly unknown[]

/** A server, or the bare engine, that is asked. */
export interface Asker {
  readonly name: string
  readonly ask: (asked: Asked) => Promise<{ readonly ms: number; readonly rows: readonly Cells[] }>
}

/** What one contestant took for a workload's questions. */
export interface SummaryTimes {
  readonly name: string
  readonly medianMs: number | null
  /** The first answer unlike ours, or why there was none. */
  readonly fault: string | null
}

/** Rounds that are not counted: they open what the later ones find open. */
const warmUps = 2
/** Servers sum DOUBLEs in other orders. */
const precision = 12

/**
 * Asks all the same in each round, in an order that rotates, and compares each answer with the
 * first one's; one that fails is not asked again.
 */
export async function askInTurns(
  { askedOf }: SummaryWorkload,
  askers: readonly Asker[],
  facts: Facts,
  rounds: number,
): Promise<readonly SummaryTimes[]> {
  const times = new Map<string, number[]>(askers.map(({ name }) => [name, []]))
  const faults = new Map<string, string>()
  for (let round = 0; round < warmUps + rounds; round += 1) {
    const asked = askedOf(facts, round)
    const texts = new Map<string, string>()
    for (const { name, ask } of rotated(askers, round)) {
      if (faults.has(name)) continue
      try {
        const { ms, rows } = await ask(asked)
        texts.set(name, textOf(rows))
        if (round >= warmUps) times.get(name)?.push(ms)
      } catch (cause) {
        faults.set(name, `no answer: ${String(cause)}`)
      }
    }
    const right = texts.get(askers[0]?.name ?? '')
    for (const [name, text] of texts) {
      if (text !== right) faults.set(name, `round ${round + 1}: another answer than das`)
    }
  }
  return askers.map(({ name }) => {
    const all = times.get(name) ?? []
    const fault = faults.get(name) ?? null
    return { name, medianMs: all.length === 0 ? null : median(all), fault }
  })
}

/**
 * The rows, and the cells of each, in no order: JavaScript moves names like 2400 to the front. Empty
 * cells are left out, as ROAPI does, and numbers have the digits that all contestants agree on.
 */
function textOf(rows: readonly Cells[]): string {
  return rows
    .map((row) => row.flatMap(cellText).sort().join('\t'))
    .sort()
    .join('\n')
}

function cellText(cell: unknown): readonly string[] {
  if (cell === null || cell === undefined) return []
  const number = Number(cell)
  return [Number.isNaN(number) ? String(cell) : number.toPrecision(precision)]
}
