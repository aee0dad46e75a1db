import type { Command } from 'commander'
import { listDatasetStates, readRegistryState } from '../../control/dataset-state.js'
import type { DatasetState, RegistryState } from '../../control/dataset-state.js'
import type { ControlStore } from '../../control/store/store.js'
import { inEnglishOrNull } from '../../registry/local-text.js'
import type { Registry } from '../../registry/registry.js'
import { addCommand, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { isoTimeOrNull, minute, printJson, printLines, size } from '../print.js'
import { registryIfReadable } from '../read-registry.js'
import { readLocalStore } from '../state.js'
import { tableLines } from '../table.js'

/** `das dataset list`. */
export function addDatasetList(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'list',
    description:
      'List the datasets as the server last reported them: status, version, disk space, why and ' +
      'since when a newer version is refused, and what callers may misread.',
    settings: ['registry', 'state'],
    json:
      'print [{name, title, status: serving|stale|unavailable|not loaded, version, rows, files, ' +
      'stored, packing, disk_bytes, earlier_versions, updated_at, reason, reason_since, warnings}]',
    examples: ['das dataset list'],
  }).action((flags: Flags) => list(parts, flags))
}

async function list(parts: CliParts, flags: Flags): Promise<void> {
  const config = readSettings(['registry', 'state'], flags, parts.environment)
  const registry = await registryIfReadable(parts, config.registry)
  const { states, followed } =
    (await readLocalStore(parts, config.state, readStates)) ?? nothingReported
  const datasets = listedDatasets(registry, states)
  if (followed?.reason) warnOfRegistry(parts, followed)
  if (flags.json) printJson(parts, datasets.map(jsonOf))
  else printLines(parts, ...listLines(parts, datasets))
}

interface Reported {
  readonly states: readonly DatasetState[]
  readonly followed: RegistryState | undefined
}

const nothingReported: Reported = { states: [], followed: undefined }

async function readStates(store: ControlStore): Promise<Reported> {
  return { states: await listDatasetStates(store), followed: await readRegistryState(store) }
}

function warnOfRegistry({ stderr }: CliParts, { reason }: RegistryState): void {
  stderr.write('warning: the server refuses the current registry and uses the earlier one:\n')
  for (const line of (reason ?? '').split('\n')) stderr.write(`  ${line}\n`)
}

type Listed = ReturnType<typeof listedDatasets>[number]

/** The registry's datasets in its order, then those that only the server reported. */
export function listedDatasets(registry: Registry | null, states: readonly DatasetState[]) {
  const byName = new Map(states.map((state) => [state.dataset, state]))
  const names = new Set([...(registry?.datasets.keys() ?? []), ...byName.keys()])
  return [...names].map((name) => {
    const state = byName.get(name)
    const entry = registry?.datasets.get(name)
    const reason = state ? state.reason : 'no server has reported it yet; start one with das serve'
    return {
      name,
      title: inEnglishOrNull(entry?.title),
      status: state?.status ?? 'not loaded',
      version: state?.version ?? null,
      rows: state?.rows ?? null,
      files: state?.files ?? null,
      stored: state?.stored ?? null,
      packing: state?.packing ?? null,
      diskBytes: state?.diskBytes ?? null,
      earlier: state?.earlier ?? null,
      updatedAt: state?.updatedAt ?? null,
      reason: registry && !entry ? 'no longer in the registry' : reason,
      reasonSince: state?.reasonSince ?? null,
      warnings: state?.warnings ?? [],
    }
  })
}

function jsonOf({ diskBytes, earlier, updatedAt, reason, reasonSince, ...listed }: Listed) {
  const { warnings, ...rest } = listed
  return {
    ...rest,
    disk_bytes: diskBytes,
    earlier_versions: earlier,
    updated_at: isoTimeOrNull(updatedAt),
    reason,
    reason_since: isoTimeOrNull(reasonSince),
    warnings,
  }
}

const titles = ['DATASET', 'STATUS', 'ROWS', 'VERSION', 'FILES', 'DISK', 'KEPT', 'REPORTED']

/** The table, and below it the notes on single datasets. */
function listLines({ stdout }: CliParts, datasets: readonly Listed[]): readonly string[] {
  if (datasets.length === 0) {
    return ['The registry lists no dataset. Add one with: das dataset add FILE']
  }
  const rows = datasets.map((each) => [
    each.name,
    each.status,
    each.rows,
    each.version,
    each.files === null ? null : `${each.files} ${each.stored ?? ''}`.trimEnd(),
    each.diskBytes === null ? null : size(stdout, each.diskBytes),
    each.earlier,
    each.updatedAt === null ? null : minute(each.updatedAt),
  ])
  const notes = datasets.flatMap(({ name, reason, reasonSince, packing, warnings }) => {
    const since = reasonSince === null ? '' : `since ${minute(reasonSince)}: `
    return [
      ...(packing === null ? [] : [packing]),
      ...(reason === null ? [] : reason.split('\n').map((line) => `${since}${line}`)),
      ...warnings.map((warning) => `warning: ${warning}`),
    ].map((note) => `${name}: ${note}`)
  })
  const table = tableLines(stdout, titles, rows)
  return notes.length === 0 ? table : [...table, '', ...notes]
}
