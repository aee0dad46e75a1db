import type { Findings } from './findings.js'

/** One target, and what was measured. */
export interface Goal {
  readonly name: string
  readonly words: string
  /** Null where it was not measured. */
  readonly measured: string | null
  readonly isMet: boolean
}

type Layout = 'yearly' | 'packed'
type PeerName = 'ROAPI' | 'FastAPI'

const peers = ['ROAPI', 'FastAPI'] as const
const engineFactor = 1.1
/** How many times faster than each peer on its better layout, on packed files. */
const factors: readonly (readonly [name: string, Readonly<Record<PeerName, number>>])[] = [
  ['W1', { ROAPI: 50, FastAPI: 14 }],
  ['W2', { ROAPI: 50, FastAPI: 15 }],
  ['W3', { ROAPI: 8, FastAPI: 1.5 }],
  ['W4', { ROAPI: 4, FastAPI: 1.3 }],
  ['W5', { ROAPI: 30, FastAPI: 2 }],
]
const walkFactor = 5
const loadFactor = 20
const tailFactorMax = 5
const loopMsMax = 20
const overheadMsMax = 0.6
const startMsMax = 2000
const memoryAboveMaxBytes = 300_000_000
/** How much memory may vary from one second to the next without having grown. */
const growthMax = 1.05

/** Every target with its result. */
export function goalsOf(findings: Findings): readonly Goal[] {
  return [
    nearEngine(findings, 'W1', 1),
    nearEngine(findings, 'W2', 0),
    nearEngine(findings, 'W3', 1),
    nearEngine(findings, 'W4', 0),
    ...['W1', 'W2', 'W5'].flatMap((name) => peers.map((peer) => ahead(findings, name, peer))),
    ...factors.flatMap(([name, of]) =>
      peers.map((peer) => timesFaster(findings, name, peer, of[peer])),
    ),
    ...walkGoals(findings),
    ...loadGoals(findings),
    ...processGoals(findings),
  ]
}

/** A goal that a number meets when it is at most, or at least, the limit. */
function goal(
  name: string,
  words: string,
  value: number | null,
  limit: number | null,
  kind: 'most' | 'least',
  unit: string,
): Goal {
  if (value === null || limit === null) return { name, words, measured: null, isMet: false }
  const isMet = kind === 'most' ? value <= limit : value >= limit
  return { name, words, measured: `${numberText(value)}${unit}`, isMet }
}

/** Three digits, or a whole number. */
export function numberText(value: number): string {
  const isWhole = Math.abs(value) >= 100 || Number.isInteger(value)
  if (isWhole) return Math.round(value).toLocaleString('en')
  return value.toFixed(value >= 10 ? 1 : 2)
}

function timeOf({ workloads }: Findings, name: string, contestant: string): number | null {
  const timed = workloads.find((each) => each.name === name)?.timed ?? []
  return timed.find((each) => each.contestant === contestant)?.medianMs ?? null
}

function nearEngine(findings: Findings, name: string, spareMs: number): Goal {
  const engineMs = timeOf(findings, name, 'engine yearly')
  const limit = engineMs === null ? null : engineFactor * engineMs + spareMs
  const spare = spareMs === 0 ? '' : ` + ${spareMs} ms`
  const at = limit === null ? '' : ` (${numberText(limit)} ms)`
  const words = `yearly ≤ ${engineFactor} × bare engine${spare}${at}`
  return goal(name, words, timeOf(findings, name, 'das yearly'), limit, 'most', ' ms')
}

function ratio(above: number | null, below: number | null): number | null {
  return above === null || below === null ? null : above / below
}

function ahead(findings: Findings, name: string, peer: PeerName): Goal {
  const theirs = timeOf(findings, name, `${peer} yearly`)
  const times = ratio(theirs, timeOf(findings, name, 'das yearly'))
  return goal(name, `yearly ahead of ${peer} on yearly`, times, 1, 'least', ' ×')
}

/** The better of a peer's two layouts. */
function better(of: (layout: Layout) => number | null, kind: 'least' | 'most'): number | null {
  const both = [of('yearly'), of('packed')]
  const values = both.filter((value) => value !== null).filter(Number.isFinite)
  if (values.length === 0) return null
  return kind === 'least' ? Math.min(...values) : Math.max(...values)
}

function timesFaster(findings: Findings, name: string, peer: PeerName, factor: number): Goal {
  const theirs = better((layout) => timeOf(findings, name, `${peer} ${layout}`), 'least')
  const times = ratio(theirs, timeOf(findings, name, 'das packed'))
  return goal(name, `packed ≥ ${factor} × ${peer}`, times, factor, 'least', ' ×')
}

function walkGoals({ walks }: Findings): readonly Goal[] {
  const of = (name: string) => walks.find(({ contestant }) => contestant === name) ?? null
  const layouts = (['yearly', 'packed'] as const).flatMap((layout) => {
    const walk = of(`das ${layout}`)
    const growth = walk && walk.lastPageMs / walk.firstPageMs
    const wrong = walk && walk.duplicated + walk.missing
    const words = `${layout}: last page ≤ ${engineFactor} × page 1`
    return [
      goal('W6', words, growth, engineFactor, 'most', ' ×'),
      goal('W6', `${layout}: every row once`, wrong, 0, 'most', ' rows wrong'),
    ]
  })
  const theirs = better((layout) => of(`FastAPI ${layout}`)?.pageMs ?? null, 'least')
  const times = ratio(theirs, of('das packed')?.pageMs ?? null)
  const words = `packed: a page ≥ ${walkFactor} × FastAPI's`
  return [...layouts, goal('W6', words, times, walkFactor, 'least', ' ×')]
}

function loadGoals({ loads }: Findings): readonly Goal[] {
  const of = (name: string) => loads.find(({ contestant }) => contestant === name) ?? null
  const rate = (name: string) => of(name)?.requestsPerSecond ?? null
  const theirs = better((layout) => rate(`FastAPI ${layout}`), 'most')
  const tails = (['yearly', 'packed'] as const).flatMap((layout) => {
    const load = of(`das ${layout}`)
    const tail = load && load.p99Ms / load.p50Ms
    const delay = load?.loop?.p99Ms ?? null
    return [
      goal('W7', `${layout}: p99 ≤ ${tailFactorMax} × p50`, tail, tailFactorMax, 'most', ' ×'),
      goal('W7', `${layout}: event loop p99 ≤ ${loopMsMax} ms`, delay, loopMsMax, 'most', ' ms'),
    ]
  })
  return [
    ...peers.map((peer) => {
      const times = ratio(rate('das yearly'), rate(`${peer} yearly`))
      return goal('W7', `yearly ahead of ${peer} on yearly`, times, 1, 'least', ' ×')
    }),
    goal(
      'W7',
      `packed ≥ ${loadFactor} × FastAPI`,
      ratio(rate('das packed'), theirs),
      loadFactor,
      'least',
      ' ×',
    ),
    ...tails,
  ]
}

function processGoals({ overhead, startMs, memory, memoryLimitBytes }: Findings): readonly Goal[] {
  const above = memory && (memory.maxBytes - memoryLimitBytes) / 1e6
  const growth = ratio(memory?.endBytes ?? null, memory?.minuteBytes ?? null)
  const aboveMax = memoryAboveMaxBytes / 1e6
  const overheadMs = overhead?.overheadMs ?? null
  return [
    goal('overhead', `≤ ${overheadMsMax} ms`, overheadMs, overheadMsMax, 'most', ' ms'),
    goal('start', `≤ ${startMsMax / 1000} s`, startMs / 1000, startMsMax / 1000, 'most', ' s'),
    goal('memory', `≤ limit + ${aboveMax} MB`, above, aboveMax, 'most', ' MB above'),
    goal('memory', `end ≤ ${growthMax} × first minute`, growth, growthMax, 'most', ' ×'),
  ]
}
