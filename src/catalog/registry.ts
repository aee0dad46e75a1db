import { basename, dirname, resolve } from 'node:path'
import { LineCounter, isScalar, parseDocument } from 'yaml'
import type { Document } from 'yaml'
import { RegistrySchema } from './registry-schema.js'
import type { DatasetEntry, RegistryFile } from './registry-schema.js'
import { shapeProblems } from './shape.js'

/** A place in registry.yaml: keys and indexes from the root. */
export type RegistryPath = readonly (string | number)[]

/** What a month of access grants and costs. */
export interface Plan {
  readonly name: string
  readonly rowsPerMonth: number
  /** Latest calendar years of the dataset's history column, or all of them. */
  readonly history: number | 'all'
  /** Whole roubles a month. */
  readonly priceRub: number
  readonly ratePerMinute: number
}

/** registry.yaml, read and well-formed; what it says of columns is checked against the files. */
export interface Registry {
  /** Paths in the registry are relative to this folder. */
  readonly folder: string
  readonly demo: { readonly token: string; readonly ratePerMinute: number } | null
  readonly datasets: ReadonlyMap<string, DatasetEntry>
  /** `registry.yaml:12:5`, where the value at `path`, or what is nearest above it, stands. */
  readonly locate: (path: RegistryPath) => string
  /** A scalar as it is written, and whether it is quoted: `0261012138` loses its zero as a number. */
  readonly written: (path: RegistryPath) => { readonly text: string; readonly isText: boolean }
}

/** Everything wrong with a registry at once, a line a mistake. */
export class RegistryError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'RegistryError'
    this.problems = problems
  }
}

const defaultRatePerMinute = 120
const demoRatePerMinute = 30
const problemsMax = 20

/**
 * Reads the text of registry.yaml.
 * @throws RegistryError naming line, column and the nearest right spelling of every mistake
 */
export function parseRegistry(text: string, path: string): Registry {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const file = basename(path)
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  if (document.errors.length > 0) {
    throw new RegistryError(document.errors.map((error) => `${at(error.pos[0])}: ${error.message}`))
  }
  const locate = (place: RegistryPath) => at(offsetOf(document, place))
  const content: unknown = document.toJS() ?? {}
  const problems = [
    ...shapeProblems(RegistrySchema, content, 'the registry').map(
      ({ path: place, name, message }) => `${locate(place)}: ${name}: ${message}`,
    ),
    ...nameProblems(content, locate),
  ]
  if (problems.length > 0) throw new RegistryError(problems.slice(0, problemsMax))
  return freezeRegistry(content as RegistryFile, dirname(resolve(path)), document, locate)
}

function freezeRegistry(
  content: RegistryFile,
  folder: string,
  document: Document,
  locate: Registry['locate'],
): Registry {
  const demo = content.demo && {
    token: content.demo.token,
    ratePerMinute: content.demo.rate_per_minute ?? demoRatePerMinute,
  }
  return Object.freeze({
    folder,
    demo: demo ?? null,
    datasets: new Map(Object.entries(content.datasets)),
    locate,
    written: (path: RegistryPath) => writtenAt(document, path),
  })
}

/** The plans of a dataset by name, in the registry's order. */
export function plansOf(entry: DatasetEntry): ReadonlyMap<string, Plan> {
  return new Map(
    Object.entries(entry.plans ?? {}).map(([name, plan]) => [
      name,
      Object.freeze({
        name,
        rowsPerMonth: plan.rows_per_month,
        history: plan.history,
        priceRub: plan.price_rub,
        ratePerMinute: plan.rate_per_minute ?? defaultRatePerMinute,
      }),
    ]),
  )
}

/** `x` and `[x]` mean the same in the registry. */
export function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}

function offsetOf(document: Document, path: RegistryPath): number {
  for (let depth = path.length; depth > 0; depth--) {
    const key = path[depth - 1]
    const parent: unknown =
      depth === 1 ? document.contents : document.getIn(path.slice(0, depth - 1), true)
    const items = (parent as { items?: unknown[] } | null)?.items ?? []
    for (const [index, item] of items.entries()) {
      const pair = item as { key?: { value?: unknown; range?: number[] }; range?: number[] }
      if (pair.key && String(pair.key.value) === String(key)) return pair.key.range?.[0] ?? 0
      if (!pair.key && index === key) return pair.range?.[0] ?? 0
    }
  }
  return 0
}

function writtenAt(document: Document, path: RegistryPath): { text: string; isText: boolean } {
  const node = document.getIn(path, true)
  if (!isScalar(node)) return { text: '', isText: false }
  return { text: String(node.source ?? node.value), isText: typeof node.value === 'string' }
}

const datasetName = /^[a-z0-9_]{1,64}$/
const planName = /^[a-z0-9_-]{1,32}$/

/** Names that stand in addresses, headers and commands have a narrow alphabet. */
function nameProblems(content: unknown, locate: Registry['locate']): readonly string[] {
  const problems: string[] = []
  const datasets = recordOf(recordOf(content)['datasets'])
  for (const [name, entry] of Object.entries(datasets)) {
    const path = ['datasets', name]
    if (!datasetName.test(name) || name === 'account') {
      const why = name === 'account' ? 'a reserved name' : 'not 1 to 64 of a-z, 0-9 and _'
      problems.push(`${locate(path)}: datasets.${name}: the name is ${why}.`)
    }
    for (const plan of Object.keys(recordOf(recordOf(entry)['plans']))) {
      if (planName.test(plan)) continue
      const place = [...path, 'plans', plan]
      problems.push(
        `${locate(place)}: plan "${plan}": the name is not 1 to 32 of a-z, 0-9, _ and -.`,
      )
    }
  }
  return problems
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
