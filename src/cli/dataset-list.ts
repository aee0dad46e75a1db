import type { Command } from 'commander'
import type { Registry } from '../catalog/registry.js'
import { listDatasetStates } from '../control/dataset-state.js'
import type { DatasetState } from '../control/dataset-state.js'
import { addCommand, readSettings } from './command.js'
import type { Flags } from './command.js'
import type { CliParts } from './parts.js'
import { isoTimeOrNull, minute, printJson, printLines, tableLines } from './print.js'
import { registryIfReadable } from './registry.js'
import { withExistingStore } from './state.js'

/** `das dataset list`. */
export function addDatasetList(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'list',
    description: 'List the datasets as the server last reported them.',
    settings: ['registry', 'state'],
    json: 'print [{name, title, status, version, rows, updated_at, reason}]',
    examples: ['das dataset list'],
  }).action((flags: Flags) => list(parts, flags))
}

async function list(parts: CliParts, flags: Flags): Promise<void> {
  const config = readSettings(['registry', 'state'], flags, parts.environment)
  const registry = await registryIfReadable(parts, config.registry)
  const states = withExistingStore(config.state, listDatasetStates) ?? []
  const datasets = joined(registry, states)
  if (flags.json) {
    printJson(
      parts,
      datasets.map(({ updatedAt, reason, ...rest }) => ({
        ...rest,
        updated_at: isoTimeOrNull(updatedAt),
        reason,
      })),
    )
    return
  }
  if (datasets.length === 0) {
    printLines(parts, 'No dataset yet. List one in the registry, then: das dataset check')
    return
  }
  const titles = ['DATASET', 'STATUS', 'ROWS', 'VERSION', 'REPORTED', 'REASON']
  const rows = datasets.map((each) => [
    each.name,
    each.status,
    each.rows,
    each.version,
    each.updatedAt === null ? null : minute(each.updatedAt),
    each.reason?.split('\n').join('; ') ?? null,
  ])
  printLines(parts, ...tableLines(parts.stdout, titles, rows))
}

/** The registry's datasets in its order, then those that a server reported and the registry lost. */
function joined(registry: Registry | null, states: readonly DatasetState[]) {
  const byName = new Map(states.map((state) => [state.dataset, state]))
  const names = new Set([...(registry?.datasets.keys() ?? []), ...byName.keys()])
  return [...names].map((name) => {
    const state = byName.get(name)
    const entry = registry?.datasets.get(name)
    const reason = state ? state.reason : 'no server has reported it yet: das serve'
    return {
      name,
      title: entry?.title ?? null,
      status: state?.status ?? 'not loaded',
      version: state?.version ?? null,
      rows: state?.rows ?? null,
      updatedAt: state?.updatedAt ?? null,
      reason: registry && !entry ? 'not in the registry any more' : reason,
    }
  })
}
