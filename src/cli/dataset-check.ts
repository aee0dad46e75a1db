import type { Command } from 'commander'
import { openCatalog, readRegistry } from '../catalog/catalog.js'
import type { Catalog } from '../catalog/catalog.js'
import type { Version } from '../catalog/version.js'
import { listSubscriptions } from '../control/subscriptions.js'
import { addCommand, readSettings } from './command.js'
import type { Flags } from './command.js'
import { checkDataset, ghostChecks } from './findings.js'
import type { DatasetCheck } from './findings.js'
import type { CliParts } from './parts.js'
import { count, printJson, printLines } from './print.js'
import { findDataset } from './registry.js'
import { withExistingStore } from './state.js'
import { stateOf } from './token-table.js'

/** `das dataset check`. */
export function addDatasetCheck(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'check [name]',
    description: 'Open the files where they lie and say what is wrong; no server is needed.',
    settings: ['registry', 'state', 'memoryLimit'],
    json: 'print [{name, status: ok|warning|refused, findings: [{code, level, message}]}]',
    examples: ['das dataset check', 'das dataset check financials --registry new/registry.yaml'],
  }).action((name: string | undefined, flags: Flags) => check(parts, name, flags))
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
