import type { Command } from 'commander'
import { openCatalog, readRegistry } from '../catalog/catalog.js'
import type { Catalog } from '../catalog/catalog.js'
import type { Registry } from '../catalog/registry.js'
import type { Version } from '../catalog/version.js'
import { listDatasetStates } from '../control/dataset-state.js'
import type { DatasetState } from '../control/dataset-state.js'
import { listSubscriptions } from '../control/subscriptions.js'
import { addCommand, addGroup, readSettings } from './command.js'
import type { Flags } from './command.js'
import { checkDataset, ghostChecks } from './findings.js'
import type { DatasetCheck } from './findings.js'
import type { CliParts } from './parts.js'
import { count, isoTimeOrNull, minute, printJson, printLines, tableLines } from './print.js'
import { findDataset, registryIfReadable } from './registry.js'
import { withExistingStore } from './state.js'
import { stateOf } from './token-table.js'

/** `das dataset …`: what is served, and what could be. */
export function addDataset(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'dataset',
    'See what is served, and check what could be.',
    'das dataset check',
  )
  addCommand(group, {
    usage: 'list',
    description: 'List the datasets as the server last reported them.',
    settings: ['registry', 'state'],
    json: 'print [{name, title, status, version, rows, updated_at, reason}]',
    examples: ['das dataset list'],
  }).action((flags: Flags) => list(parts, flags))
  addCommand(group, {
    usage: 'check [name]',
    description: 'Open the files where they lie and say what is wrong; no server is needed.',
    settings: ['registry', 'state', 'memoryLimit'],
    json: 'print [{name, status: ok|warning|refused, findings: [{code, level, message}]}]',
    examples: ['das dataset check', 'das dataset check financials --registry new/registry.yaml'],
  }).action((name: string | undefined, flags: Flags) => check(parts, name, flags))
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

async function check(parts: CliParts, name: string | undefined, flags: Flags): Promise<void> {
  const config = readSettings(['registry', 'state', 'memoryLimit'], flags, parts.environment)
  const whole = await readRegistry(config.registry)
  const registry =
    name === undefined ? whole : { ...whole, datasets: new Map([[name, findDataset(whole, name)]]) }
  const now = parts.now()
  const sold = (withExistingStore(config.state, listSubscriptions) ?? [])
    .filter((subscription) => stateOf(subscription, now) === 'live')
    .flatMap(({ grants }) => grants)
  const openFiles = parts.openFiles(config.memoryLimit)
  const { datasets } = await openCatalog(registry, { openFiles, versionsFolder: null })
  const checks = [...datasets.values()].map((dataset) => checkDataset(dataset, whole, sold))
  if (name === undefined) checks.push(...ghostChecks(whole, sold))
  if (flags.json) printJson(parts, checks)
  else printLines(parts, ...checkLines(parts, checks, datasets))
  const refused = checks.filter(({ status }) => status === 'refused').length
  if (refused > 0) {
    throw new Error(`${refused} of ${checks.length} datasets can't be served.`)
  }
}

function checkLines(
  parts: CliParts,
  checks: readonly DatasetCheck[],
  datasets: Catalog['datasets'],
): readonly string[] {
  if (checks.length === 0) return ['No dataset yet: the registry is where they are listed.']
  return checks.flatMap(({ name, status, findings }) => [
    `${name}: ${status}${contentText(parts, datasets.get(name)?.version ?? null)}`,
    ...findings.map(({ level, message }) => `  ${level}: ${message}`),
  ])
}

function contentText({ stdout }: CliParts, version: Version | null): string {
  if (!version) return ''
  const { rows, columns, files } = version
  const many = (amount: number, word: string) =>
    `${count(stdout, amount)} ${word}${amount === 1 ? '' : 's'}`
  return ` (${many(rows, 'row')}, ${many(columns.length, 'column')}, ${many(files.length, 'file')})`
}
