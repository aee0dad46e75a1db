import { readRegistry } from '../../catalog.js'
import { RegistryError } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { listedDatasets } from '../dataset/dataset-list.js'
import { fail, ok, oneLine, warn } from './finding.js'
import type { Finding } from './finding.js'
import type { Reports } from './reports.js'

/** The registry, or what is wrong with it. */
export interface ExaminedRegistry {
  readonly registry: Registry | null
  readonly findings: readonly Finding[]
}

const advice = 'das dataset check says more'

/** Whether registry.yaml is valid, and is the one that the server uses. */
export async function examineRegistry(
  path: string,
  reports: Reports | null,
): Promise<ExaminedRegistry> {
  const check = 'registry'
  try {
    const registry = await readRegistry(path)
    if (reports?.registry && reports.registry.reason !== null) {
      const what = `the server refuses the present one: ${oneLine(reports.registry.reason)}`
      return { registry, findings: [fail(check, what, 'correct it; das dataset reload')] }
    }
    const ignored = registry.warnings.map((line) => warn(check, line, null))
    return { registry, findings: ignored.length > 0 ? ignored : [ok(check, `${path} is valid`)] }
  } catch (cause) {
    if (!(cause instanceof RegistryError)) throw cause
    const findings = cause.problems.map((problem) => fail(check, oneLine(problem), null))
    return { registry: null, findings }
  }
}

/** Whether the server serves every dataset, as it last reported. */
export function datasetFindings(
  registry: Registry | null,
  reports: Reports | null,
): readonly Finding[] {
  const check = 'datasets'
  const listed = listedDatasets(registry, reports?.datasets ?? [])
  if (listed.length === 0) return [warn(check, 'none is in the registry', 'das dataset add FILE')]
  const wrong = listed
    .filter(({ status, reason }) => status !== 'serving' || reason !== null)
    .map(({ name, status, reason }) => {
      const what = `${name} is ${status}${reason === null ? '' : `: ${oneLine(reason)}`}`
      return status === 'unavailable' ? fail(check, what, advice) : warn(check, what, advice)
    })
  return wrong.length > 0 ? wrong : [ok(check, `${listed.length} served`)]
}
