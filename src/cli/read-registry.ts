import { readRegistry } from '../catalog.js'
import { badRequest } from '../errors.js'
import type { DatasetEntry } from '../registry/registry-schema.js'
import { RegistryError, plansOf } from '../registry/registry.js'
import type { Plan, Registry } from '../registry/registry.js'
import { didYouMean, quoted } from '../text.js'
import type { CliParts } from './parts.js'

/** The registry for commands that also work without it; prints its problems as warnings. */
export async function registryIfReadable(
  parts: Pick<CliParts, 'stderr'>,
  path: string,
): Promise<Registry | null> {
  try {
    return await readRegistry(path)
  } catch (cause) {
    if (!(cause instanceof RegistryError)) throw cause
    for (const problem of cause.problems) parts.stderr.write(`warning: ${problem}\n`)
    return null
  }
}

/** @throws bad_request with similar names, or with all names */
export function findDataset(registry: Registry, name: string): DatasetEntry {
  const entry = registry.datasets.get(name)
  if (entry) return entry
  throw badRequest(
    `There is no dataset ${quoted(name)} in the registry.${nearestOf(name, registry.datasets)}`,
  )
}

/** @throws bad_request with similar names, or with all names */
export function findPlan(registry: Registry, dataset: string, name: string): Plan {
  const plans = plansOf(findDataset(registry, dataset))
  const plan = plans.get(name)
  if (plan) return plan
  throw badRequest(`Dataset "${dataset}" has no plan ${quoted(name)}.${nearestOf(name, plans)}`)
}

function nearestOf(name: string, known: ReadonlyMap<string, unknown>): string {
  const near = didYouMean(name, known.keys())
  if (near !== '') return near
  return known.size === 0 ? ' It has none.' : ` It has: ${[...known.keys()].join(', ')}.`
}
