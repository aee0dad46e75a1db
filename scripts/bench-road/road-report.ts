import { markdownTable } from '../harness/report.js'
import { sum } from '../harness/statistics.js'
import type { BuildRoad, EngineRoad, RoadOf } from './measure-builds.js'

/** The parts of a request that `clock.cjs` marks, in their order. */
const parts: readonly (readonly [name: string, title: string])[] = [
  ['accept', 'routing and hooks, to the first read of control.db'],
  ['token', 'token and grants'],
  ['rate', 'rate'],
  ['usage', 'usage'],
  ['question', 'question, file choice, queue for a turn'],
  ['bind', 'values bound'],
  ['query', 'DuckDB: to its thread and back, plan, read, encode'],
  ['rows', 'rows taken, files checked, wait for the commit'],
  ['charge', 'charge committed'],
  ['begin sync', 'until its sync begins'],
  ['sync', 'sync, to its thread and back'],
  ['answer', 'page, headers, compression'],
  ['write', 'written to the socket'],
  ['total', 'total in the server, to the last byte written'],
  ['log', 'then, until the log line is written'],
]

const modulesMax = 25

/** The tables of a run; every number is in milliseconds a request. */
export function roadMarkdown(engine: EngineRoad, builds: readonly BuildRoad[]): string {
  const columns = builds.flatMap(({ name, roads }) => roads.map((road) => ({ name, road })))
  const titles = columns.map(({ name, road }) => `${name}, ${road.connections} conn.`)
  const rowsOf = (value: (road: RoadOf) => number) => columns.map(({ road }) => ms(value(road)))
  const own = engine.ownCpuMs
  const summary = [
    ['client, median', ...rowsOf(({ p50Ms }) => p50Ms)],
    ['client, 99th percentile', ...rowsOf(({ p99Ms }) => p99Ms)],
    ['requests per second', ...rowsOf(({ requestsPerSecond }) => requestsPerSecond)],
    ['CPU, whole server', ...rowsOf(({ allCpuMs }) => allCpuMs)],
    ['CPU, event loop', ...rowsOf(({ loopCpuMs }) => loopCpuMs)],
    ['CPU without its engine', ...rowsOf(({ allCpuMs }) => allCpuMs - own)],
    ['client median without its engine', ...rowsOf(({ p50Ms }) => p50Ms - engine.ownMs)],
  ]
  const found = parts.map(([part, title]) => [title, ...rowsOf((road) => road.parts[part] ?? 0)])
  return [
    `Bare engine ${ms(engine.bareMs)}, own engine ${ms(engine.ownMs)}, its CPU ${ms(own)}.\n`,
    markdownTable(['', ...titles], summary),
    markdownTable(['Part', ...titles], found),
    `To the thread pool and back: ${builds.map(({ poolTripMs }) => ms(poolTripMs)).join(', ')}.\n`,
    ...builds.map(moduleTable),
  ].join('\n')
}

function moduleTable({ name, modules }: BuildRoad): string {
  const rest = sum(modules.slice(modulesMax).map(([, each]) => each))
  const rows = [...modules.slice(0, modulesMax), ['the others', rest] as const]
  const title = `Event loop of ${name}, profiled`
  return markdownTable(
    [title, 'ms'],
    rows.map(([module, each]) => [module, ms(each)]),
  )
}

function ms(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(value < 10 ? 3 : 1)
}
