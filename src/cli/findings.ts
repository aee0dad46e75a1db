import type { Dataset } from '../catalog/dataset.js'
import { plansOf } from '../catalog/registry.js'
import type { Registry } from '../catalog/registry.js'
import { filesThatMayHold } from '../catalog/version.js'
import type { Version } from '../catalog/version.js'
import type { Grant } from '../control/grants.js'

/** Something to know of a dataset: an error keeps it from being served, a warning does not. */
interface Finding {
  readonly code: string
  readonly level: 'error' | 'warning'
  readonly message: string
}

/** The verdict on a dataset (contract 4, `dataset check --json`). */
export interface DatasetCheck {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'refused'
  readonly findings: readonly Finding[]
}

/** The verdict on a dataset as the catalog opened it. `sold` are the grants of live subscriptions. */
export function checkDataset(
  dataset: Dataset,
  registry: Registry,
  sold: readonly Grant[],
): DatasetCheck {
  const { name, version, reason } = dataset
  const findings = [
    ...(reason ?? '').split('\n').flatMap((line) => (line === '' ? [] : [refusal(line)])),
    ...(version ? versionFindings(dataset, version, registry) : []),
    ...planFindings(registry, name, sold),
  ]
  const status = !version ? 'refused' : findings.length > 0 ? 'warning' : 'ok'
  return { name, status, findings }
}

/** Datasets that live subscriptions have and the registry lacks. */
export function ghostChecks(registry: Registry, sold: readonly Grant[]): readonly DatasetCheck[] {
  const names = new Set(sold.map(({ dataset }) => dataset))
  return [...names]
    .filter((name) => !registry.datasets.has(name))
    .map((name) => {
      const count = sold.filter(({ dataset }) => dataset === name).length
      const message = `${holders(count)} it, but the registry does not list it: they get 404`
      return { name, status: 'warning', findings: [warning('granted_dataset_missing', message)] }
    })
}

function refusal(message: string): Finding {
  return { code: 'refused', level: 'error', message }
}

function warning(code: string, message: string): Finding {
  return { code, level: 'warning', message }
}

function holders(count: number): string {
  return count === 1 ? '1 live subscription has' : `${count} live subscriptions have`
}

function versionFindings(
  { demo, plans }: Dataset,
  version: Version,
  registry: Registry,
): readonly Finding[] {
  const findings: Finding[] = []
  if (version.rows === 0) findings.push(warning('no_rows', 'the files hold no row'))
  if (version.key.length === 0 && version.files.length > 1) {
    const message = 'no key is declared, so every look-up reads every file; name its columns in key'
    findings.push(warning('no_key', message))
  }
  if (version.history && version.rows > 0 && version.newestHistory === undefined) {
    const limited = [...plans.values()].some(({ history }) => history !== 'all')
    const message = `the history column "${version.history.name}" is empty: plans that count years see nothing`
    if (limited) findings.push(warning('history_empty', message))
  }
  if (demo && registry.demo === null) {
    const message = 'there is a demo subset, but the registry has no demo token to see it with'
    findings.push(warning('demo_without_token', message))
  }
  if (demo && version.rows > 0 && filesThatMayHold(version, demo).length === 0) {
    findings.push(warning('demo_empty', 'no file can hold a row of the demo subset'))
  }
  return findings
}

function planFindings(
  registry: Registry,
  dataset: string,
  sold: readonly Grant[],
): readonly Finding[] {
  const entry = registry.datasets.get(dataset)
  const plans = entry ? plansOf(entry) : new Map<string, unknown>()
  const findings =
    plans.size > 0 ? [] : [warning('no_plans', 'it has no plans, so nobody can subscribe to it')]
  const grants = sold.filter((grant) => grant.dataset === dataset && !plans.has(grant.plan))
  for (const plan of new Set(grants.map((grant) => grant.plan))) {
    const count = grants.filter((grant) => grant.plan === plan).length
    const message = `${holders(count)} plan "${plan}", which it lacks: they get 404`
    findings.push(warning('granted_plan_missing', message))
  }
  return findings
}
