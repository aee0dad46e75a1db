import { isoTimeOrNull } from '../../text.js'
import type { Command } from 'commander'
import type { FormState } from '../../catalog/live/live-forms.js'
import type { Config } from '../../config.js'
import { listDatasetStates, readRegistryState } from '../../control/dataset-state.js'
import type { DatasetState, RegistryState } from '../../control/dataset-state.js'
import { inEnglishOrNull } from '../../registry/local-text.js'
import type { Registry } from '../../registry/registry.js'
import { listed } from '../../text.js'
import { addPrinted } from '../command.js'
import type { Result } from '../command.js'
import type { CliParts } from '../parts.js'
import { minute, size } from '../print.js'
import { listLines } from '../table.js'
import { registryIfReadable } from '../read-registry.js'
import { readLocalStore } from '../state.js'

/** `das dataset list`. */
export function addDatasetList(group: Command, parts: CliParts): void {
  addPrinted(group, parts, {
    usage: 'list',
    description:
      'List the datasets as the server last reported them: status, version, disk space, why and ' +
      'since when a newer version is refused, and what callers may misread.',
    settings: ['registry', 'state'],
    json:
      'print [{name, title, status: serving|stale|unavailable|not loaded, version, rows, files, ' +
      'stored, forms, disk_bytes, earlier_versions, updated_at, reason, reason_since, warnings}]',
    examples: ['das dataset list'],
    run: (config) => list(parts, config),
  })
}

async function list(parts: CliParts, config: Pick<Config, 'registry' | 'state'>): Promise<Result> {
  const registry = await registryIfReadable(parts, config.registry)
  const reported = await readLocalStore(parts, config.state, async (store) => ({
    states: await listDatasetStates(store),
    followed: await readRegistryState(store),
  }))
  const datasets = listedDatasets(registry, reported?.states ?? [])
  if (reported?.followed?.reason) warnOfRegistry(parts, reported.followed)
  return { json: datasets.map(jsonOf), lines: linesOf(parts, datasets, registry !== null) }
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
      forms: formsOf(state),
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

/** As the server reported them; one of an earlier release reported a text. */
function formsOf(state: DatasetState | undefined): readonly FormState[] {
  const text = state?.packing ?? '[]'
  return text.startsWith('[') ? (JSON.parse(text) as FormState[]) : []
}

/** What there is to say of forms: nothing, if all are made. */
function formNotes(forms: readonly FormState[]): readonly string[] {
  const names = (state: FormState['state']) =>
    forms.flatMap(({ form, column, ...each }) =>
      each.state === state ? [column === undefined ? form : `${form} of ${column}`] : [],
    )
  const [failed] = forms.filter(({ state }) => state === 'failed')
  const [making] = forms.filter(({ state }) => state === 'making')
  const percent = Math.floor(100 * (making?.share ?? 0))
  return [
    ...(making ? [`packing: ${listed(names('making'))}, ${percent} %`] : []),
    ...(failed ? [`not packed: ${listed(names('failed'))}: ${failed.reason}`] : []),
    ...(names('stale').length > 0 ? [`not all files have forms: ${listed(names('stale'))}`] : []),
  ]
}

/** The table, and below it the notes on single datasets. */
function linesOf(
  { stdout }: CliParts,
  datasets: readonly Listed[],
  isRead: boolean,
): readonly string[] {
  if (datasets.length === 0) {
    return [
      isRead
        ? 'The registry lists no dataset. Add one with: das dataset add FILE'
        : 'No server has reported a dataset here.',
    ]
  }
  const table = listLines(stdout, datasets, {
    DATASET: (each) => each.name,
    STATUS: (each) => each.status,
    ROWS: (each) => each.rows,
    VERSION: (each) => each.version,
    FILES: ({ files, stored }) => (files === null ? null : `${files} ${stored ?? ''}`.trimEnd()),
    DISK: ({ diskBytes }) => (diskBytes === null ? null : size(stdout, diskBytes)),
    KEPT: (each) => each.earlier,
    REPORTED: ({ updatedAt }) => (updatedAt === null ? null : minute(updatedAt)),
  })
  const notes = datasets.flatMap(({ name, reason, reasonSince, forms, warnings }) => {
    const since = reasonSince === null ? '' : `since ${minute(reasonSince)}: `
    return [
      ...formNotes(forms),
      ...(reason === null ? [] : reason.split('\n').map((line) => `${since}${line}`)),
      ...warnings.map((warning) => `warning: ${warning}`),
    ].map((note) => `${name}: ${note}`)
  })
  return notes.length === 0 ? table : [...table, '', ...notes]
}
