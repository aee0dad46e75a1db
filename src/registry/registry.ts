import { basename, dirname, resolve } from 'node:path'
import type { Language } from '../config.js'
import { splitGone } from './gone-keys.js'
import { textIn } from './local-text.js'
import type { LocalText } from './local-text.js'
import { readLocatedYaml } from './located-yaml.js'
import type { LocatedYaml, YamlPath } from './located-yaml.js'
import { portalFiles, portalSettings, portalWarnings } from './portal-schema.js'
import type { PortalFile, PortalSettings } from './portal-schema.js'
import { promptProblems } from './prompt-schema.js'
import type { Prompt } from './prompt-schema.js'
import { ruleProblems, ruleWarnings } from './registry-rules.js'
import { RegistrySchema } from './registry-schema.js'
import type { DatasetEntry, RegistryFile } from './registry-schema.js'
import { shapeProblems } from './shape.js'
import type { ShapeProblem } from './shape.js'
import { shopProblems, shopSettings } from './shop-schema.js'
import type { ShopSettings } from './shop-schema.js'
import { shapeMistakeText } from './yaml-mistakes.js'

/** The limits and the price of a month of access. */
export interface Plan {
  readonly name: string
  /** What people read in its place; null = its name. */
  readonly title: LocalText | null
  readonly rowsPerMonth: number
  /** Latest calendar years of the dataset's history column, or all of them. */
  readonly history: number | 'all'
  /** Whole roubles a month. */
  readonly priceRub: number
  readonly ratePerMinute: number
  /** Whether it may ask for groups of rows. */
  readonly aggregates: boolean
}

/** A well-formed registry.yaml. Its columns are checked later, against the files. */
export interface Registry {
  /** Paths in the registry are relative to this folder. */
  readonly folder: string
  readonly demo: { readonly token: string; readonly ratePerMinute: number } | null
  readonly datasets: ReadonlyMap<string, DatasetEntry>
  readonly prompts: readonly Prompt[]
  readonly shop: ShopSettings
  readonly portal: PortalSettings
  /** The files that `portal` names. */
  readonly portalFiles: readonly PortalFile[]
  /** The same with the contents of these files, by their names. */
  readonly withPortalFiles: (contents: ReadonlyMap<string, string>) => Registry
  /** Keys that are ignored, and what is hardly as its owner meant it; one line each. */
  readonly warnings: readonly string[]
  /** Those of them that are about the portal. */
  readonly portalWarnings: readonly string[]
  readonly locate: LocatedYaml['locate']
  readonly scalarAt: LocatedYaml['scalarAt']
}

/** A mistake in a dataset's entry that only its files show; `path` is relative to the entry. */
export interface Problem {
  readonly path: YamlPath
  readonly message: string
}

const problemsMax = 20

/** All mistakes of a registry, one line each; of more than `problemsMax`, the first ones. */
export class RegistryError extends Error {
  readonly problems: readonly string[]

  /** `options` has the cause of a registry that could not be read at all. */
  constructor(problems: readonly string[], options?: ErrorOptions) {
    const more = problems.length - problemsMax
    const shown = more <= 0 ? problems : [...problems.slice(0, problemsMax), `… and ${more} more.`]
    super(shown.join('\n'), options)
    this.name = 'RegistryError'
    this.problems = shown
  }
}

const defaultRatePerMinute = 120
const demoRatePerMinute = 30
/** `registry.yaml:9:1` comes before `registry.yaml:10:1`. */
const byLocation = new Intl.Collator('en', { numeric: true })

/**
 * Reads the text of registry.yaml; `withPortalFiles` adds what the files of its portal contain.
 * @throws RegistryError with file, line, column and correction of every mistake
 */
export function parseRegistry(text: string, path: string): Registry {
  const yaml = readLocatedYaml(text, basename(path))
  if (yaml.problems.length > 0) throw new RegistryError(yaml.problems)
  const content = yaml.content ?? {}
  const shape = splitGone(shapeProblems(RegistrySchema, content, 'the registry'))
  const problems = [
    ...shape.mistakes,
    ...ruleProblems(content),
    ...promptProblems(content),
    ...shopProblems(content),
  ]
  const linesOf = (found: readonly ShapeProblem[]) =>
    found
      .map((each) => `${yaml.locate(each.path)}: ${each.name}: ${shapeMistakeText(each)}`)
      .sort(byLocation.compare)
  if (problems.length > 0) throw new RegistryError(linesOf(problems))
  // There is no problem, so the content has the schema's shape.
  const file = content as RegistryFile
  const ofPortal = linesOf(portalWarnings(content))
  const warnings = [...linesOf([...shape.warnings, ...ruleWarnings(content)]), ...ofPortal]
  const parts = { warnings, portalWarnings: ofPortal, folder: dirname(resolve(path)) }
  return freezeRegistry(file, parts, yaml)
}

function freezeRegistry(
  { demo, datasets, prompts = [], shop, portal: named = {} }: RegistryFile,
  parts: Pick<Registry, 'warnings' | 'portalWarnings' | 'folder'>,
  { locate, scalarAt }: LocatedYaml,
): Registry {
  const registry: Registry = Object.freeze({
    ...parts,
    demo: demo
      ? { token: demo.token, ratePerMinute: demo.rate_per_minute ?? demoRatePerMinute }
      : null,
    datasets: new Map(Object.entries(datasets)),
    prompts,
    shop: shopSettings(shop),
    portal: portalSettings(named, new Map()),
    portalFiles: portalFiles(named),
    withPortalFiles: (contents: ReadonlyMap<string, string>) =>
      Object.freeze({ ...registry, portal: portalSettings(named, contents) }),
    locate,
    scalarAt,
  })
  return registry
}

/** The plans of a dataset by name, in the registry's order. */
export function plansOf(entry: DatasetEntry): ReadonlyMap<string, Plan> {
  return new Map(
    Object.entries(entry.plans ?? {}).map(([name, plan]) => [
      name,
      Object.freeze({
        name,
        title: plan.title ?? null,
        rowsPerMonth: plan.rows_per_month,
        history: plan.history ?? 'all',
        priceRub: plan.price_rub,
        ratePerMinute: plan.rate_per_minute ?? defaultRatePerMinute,
        aggregates: plan.aggregates ?? true,
      }),
    ]),
  )
}

/** What people read of a plan: its title, or its name. */
export function planTitle(
  language: Language,
  { name, title }: Pick<Plan, 'name' | 'title'>,
): string {
  return title === null ? name : textIn(language, title)
}

/** `x` and `[x]` mean the same in the registry. */
export function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}

/** The plan that a grant names; undefined if there is no registry, dataset or plan. */
export function planOf(
  registry: Registry | null,
  { dataset, plan }: { readonly dataset: string; readonly plan: string },
): Plan | undefined {
  const entry = registry?.datasets.get(dataset)
  return entry && plansOf(entry).get(plan)
}

/** What people read of the plan that a grant names. */
export function grantedTitle(
  registry: Registry | null,
  language: Language,
  grant: { readonly dataset: string; readonly plan: string },
): string {
  const plan = planOf(registry, grant)
  return plan ? planTitle(language, plan) : grant.plan
}
