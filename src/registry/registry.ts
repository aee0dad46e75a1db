import { basename, dirname, resolve } from 'node:path'
import { readPlacedYaml } from './placed-yaml.js'
import type { PlacedYaml } from './placed-yaml.js'
import { promptProblems } from './prompt-schema.js'
import type { Prompt } from './prompt-schema.js'
import { ruleProblems } from './registry-rules.js'
import { RegistrySchema } from './registry-schema.js'
import type { DatasetEntry, RegistryFile } from './registry-schema.js'
import { shapeProblems } from './shape.js'

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
  readonly prompts: readonly Prompt[]
  readonly locate: PlacedYaml['locate']
  readonly written: PlacedYaml['written']
}

const problemsMax = 20

/** Everything wrong with a registry at once, a line a mistake; of very many the first ones. */
export class RegistryError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    const more = problems.length - problemsMax
    const told = more <= 0 ? problems : [...problems.slice(0, problemsMax), `… and ${more} more.`]
    super(told.join('\n'))
    this.name = 'RegistryError'
    this.problems = told
  }
}

const defaultRatePerMinute = 120
const demoRatePerMinute = 30
/** `registry.yaml:9:1` comes before `registry.yaml:10:1`. */
const byPlace = new Intl.Collator('en', { numeric: true })

/**
 * Reads the text of registry.yaml.
 * @throws RegistryError naming line, column and the nearest right spelling of every mistake
 */
export function parseRegistry(text: string, path: string): Registry {
  const yaml = readPlacedYaml(text, basename(path))
  if (yaml.problems.length > 0) throw new RegistryError(yaml.problems)
  const content = yaml.content ?? {}
  const problems = [
    ...shapeProblems(RegistrySchema, content, 'the registry'),
    ...ruleProblems(content),
    ...promptProblems(content),
  ]
  if (problems.length > 0) {
    const lines = problems.map(
      ({ path: place, name, message }) => `${yaml.locate(place)}: ${name}: ${message}`,
    )
    throw new RegistryError(lines.sort(byPlace.compare))
  }
  return freezeRegistry(content as RegistryFile, dirname(resolve(path)), yaml)
}

function freezeRegistry(
  { demo, datasets, prompts = [] }: RegistryFile,
  folder: string,
  { locate, written }: PlacedYaml,
): Registry {
  return Object.freeze({
    folder,
    demo: demo
      ? { token: demo.token, ratePerMinute: demo.rate_per_minute ?? demoRatePerMinute }
      : null,
    datasets: new Map(Object.entries(datasets)),
    prompts,
    locate,
    written,
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

/** The plan that a grant names; undefined where registry, dataset or plan is not there. */
export function planOf(
  registry: Registry | null,
  { dataset, plan }: { readonly dataset: string; readonly plan: string },
): Plan | undefined {
  const entry = registry?.datasets.get(dataset)
  return entry && plansOf(entry).get(plan)
}
