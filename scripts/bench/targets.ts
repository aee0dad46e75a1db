import type { Findings } from './findings.js'
import { growthOf } from './load.js'

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
const packedEngineFactor = 1.3
/** How much slower packed may be than as dropped; runs on a shared machine differ by more. */
const noSlower = 1.05
/** How many times faster than each peer on its better layout, on packed files. */
const factors: readonly (readonly [name: string, Readonly<Record<PeerName, number>>])[] = [
  ['W1', { ROAPI: 50, FastAPI: 14 }],
  ['W2', { ROAPI: 90, FastAPI: 24 }],
  ['W3', { ROAPI: 8, FastAPI: 2 }],
  ['W4', { ROAPI: 8, FastAPI: 4 }],
  ['W5', { ROAPI: 80, FastAPI: 10 }],
]
const walkFactor = 8
const loadFactor = 45
const tailFactorMax = 4
const loopMsMax = 20
const overheadMsMax = 1.5
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
    nearPackedEngine(findings),
    ...factors.map(([name]) => noSlowerPacked(findings, name)),
    ...factors.flatMap(([name, of]) =>
      peers.map((peer) => timesFaster(findings, name, peer, of[peer])),
    ),
    ...walkGoals(findings),
    ...loadGoals(findings),
    ...processGoals(findings),
  ]
}

type Value = number | null

/** A goal that a value meets when it is at most the limit. */
function atMost(name: string, words: string, value: Value, limit: Value, unit: string): Goal {
  const isMet = value !== null && limit !== null && value <= limit
  return { name, words, measured: measuredText(value, limit, unit), isMet }
}

/** A goal that a factor meets when it is at least the limit. */
function atLeast(name: string, words: string, factor: Value, limit: number): Goal {
  const isMet = factor !== null && factor >= limit
  return { name, words, measured: measuredText(factor, limit, ' ×'), isMet }
}

function measuredText(value: Value, limit: Value, unit: string): string | null {
  return value === null || limit === null ? null : `${numberText(value)}${unit}`
}

/** Three digits, or a whole number. */
export function numberText(value: number): string {
  const isWhole = Math.abs(value) >= 100 || Number.isInteger(value)
  if (isWhole) return Math.round(value).toLocaleString('en')
  return value.toFixed(value >= 10 ? 1 : 2)
}

function timeOf({ workloads }: Findings, name: string, contestant: string): Value {
  const timed = workloads.find((each) => each.name === name)?.timed ?? []
  return timed.find((each) => each.contestant === contestant)?.medianMs ?? null
}

function nearEngine(findings: Findings, name: string, spareMs: number): Goal {
  const engineMs = timeOf(findings, name, 'engine yearly')
  const limit = engineMs === null ? null : engineFactor * engineMs + spareMs
  const spare = spareMs === 0 ? '' : ` + ${spareMs} ms`
  const at = limit === null ? '' : ` (${numberText(limit)} ms)`
  const words = `yearly ≤ ${engineFactor} × bare engine${spare}${at}`
  return atMost(name, words, timeOf(findings, name, 'das yearly'), limit, ' ms')
}

function nearPackedEngine(findings: Findings): Goal {
  const times = ratio(timeOf(findings, 'W1', 'das packed'), timeOf(findings, 'W1', 'engine packed'))
  const words = `packed ≤ ${packedEngineFactor} × bare engine`
  return atMost('W1', words, times, packedEngineFactor, ' ×')
}

function noSlowerPacked(findings: Findings, name: string): Goal {
  const times = ratio(timeOf(findings, name, 'das packed'), timeOf(findings, name, 'das yearly'))
  return atMost(name, 'packed no slower than yearly', times, noSlower, ' ×')
}

function ratio(above: Value, below: Value): Value {
  return above === null || below === null ? null : above / below
}

function ahead(findings: Findings, name: string, peer: PeerName): Goal {
  const theirs = timeOf(findings, name, `${peer} yearly`)
  const times = ratio(theirs, timeOf(findings, name, 'das yearly'))
  return atLeast(name, `yearly ahead of ${peer} on yearly`, times, 1)
}

/** The better of a peer's two layouts. */
function better(of: (layout: Layout) => Value, kind: 'least' | 'most'): Value {
  const both = [of('yearly'), of('packed')]
  const values = both.filter((value) => value !== null).filter(Number.isFinite)
  if (values.length === 0) return null
  return kind === 'least' ? Math.min(...values) : Math.max(...values)
}

function timesFaster(findings: Findings, name: string, peer: PeerName, factor: number): Goal {
  const theirs = better((layout) => timeOf(findings, name, `${peer} ${layout}`), 'least')
  const times = ratio(theirs, timeOf(findings, name, 'das packed'))
  return atLeast(name, `packed ≥ ${factor} × ${peer}`, times, factor)
}

function walkGoals({ walks }: Findings): readonly Goal[] {
  const of = (name: string) => walks.find(({ contestant }) => contestant === name) ?? null
  const layouts = (['yearly', 'packed'] as const).flatMap((layout) => {
    const walk = of(`das ${layout}`)
    const growth = walk && walk.lastPageMs / walk.firstPageMs
    const wrong = walk && walk.duplicated + walk.missing
    const words = `${layout}: last page ≤ ${engineFactor} × page 1`
    return [
      atMost('W6', words, growth, engineFactor, ' ×'),
      atMost('W6', `${layout}: every row once`, wrong, 0, ' rows wrong'),
    ]
  })
  const theirs = better((layout) => of(`FastAPI ${layout}`)?.pageMs ?? null, 'least')
  const times = ratio(theirs, of('das packed')?.pageMs ?? null)
  const words = `packed: a page ≥ ${walkFactor} × FastAPI's`
  const [packedMs, yearlyMs] = [of('das packed')?.pageMs, of('das yearly')?.pageMs]
  const toYearly = ratio(packedMs ?? null, yearlyMs ?? null)
  return [
    ...layouts,
    atMost('W6', 'packed no slower than yearly', toYearly, noSlower, ' ×'),
    atLeast('W6', words, times, walkFactor),
  ]
}

function loadGoals({ loads }: Findings): readonly Goal[] {
  const of = (name: string) => loads.find(({ contestant }) => contestant === name) ?? null
  const rate = (name: string) => of(name)?.requestsPerSecond ?? null
  const ahead = peers.map((peer) => {
    const times = ratio(rate('das yearly'), rate(`${peer} yearly`))
    return atLeast('W7', `yearly ahead of ${peer} on yearly`, times, 1)
  })
  const theirs = better((layout) => rate(`FastAPI ${layout}`), 'most')
  const times = ratio(rate('das packed'), theirs)
  const tails = (['yearly', 'packed'] as const).flatMap((layout) => {
    const load = of(`das ${layout}`)
    const tail = load && load.p99Ms / load.p50Ms
    const delay = load?.loop?.p99Ms ?? null
    return [
      atMost('W7', `${layout}: p99 ≤ ${tailFactorMax} × p50`, tail, tailFactorMax, ' ×'),
      atMost('W7', `${layout}: event loop p99 ≤ ${loopMsMax} ms`, delay, loopMsMax, ' ms'),
    ]
  })
  return [...ahead, atLeast('W7', `packed ≥ ${loadFactor} × FastAPI`, times, loadFactor), ...tails]
}

function processGoals({ overhead, startMs, memory, memoryLimitBytes }: Findings): readonly Goal[] {
  const above = memory && (memory.maxBytes - memoryLimitBytes) / 1e6
  const growth = memory && growthOf(memory, memoryLimitBytes)
  const aboveMax = memoryAboveMaxBytes / 1e6
  const overheadMs = overhead?.overheadMs ?? null
  return [
    atMost('overhead', `≤ ${overheadMsMax} ms`, overheadMs, overheadMsMax, ' ms'),
    atMost('start', `≤ ${startMsMax / 1000} s`, startMs / 1000, startMsMax / 1000, ' s'),
    atMost('memory', `≤ limit + ${aboveMax} MB`, above, aboveMax, ' MB above'),
    atMost('memory', `end ≤ ${growthMax} × first minute at the limit`, growth, growthMax, ' ×'),
  ]
}
