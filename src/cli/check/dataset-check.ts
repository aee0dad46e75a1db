import type { Command } from 'commander'
import { readRegistry, versionsFolderOf } from '../../catalog.js'
import { liveGrants } from '../../control/grants.js'
import type { Registry } from '../../registry/registry.js'
import type { InspectProgress } from '../../versions/inspector.js'
import { findStoredDamage } from '../../versions/store/stored-damage.js'
import { addCommand, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { printJson, printLines } from '../print.js'
import { progressReport } from '../progress-bar.js'
import { findDataset } from '../read-registry.js'
import { readStore } from '../state.js'
import { checkLines } from './check-lines.js'
import { checkDataset, missingDatasetChecks } from './dataset-verdict.js'
import type { CheckContext, ExaminedDataset } from './dataset-verdict.js'
import { examine } from './examine-dataset.js'
import { openToCheck } from './open-to-check.js'
import type { OpenedToCheck } from './open-to-check.js'

/** `das dataset check`. */
export function addDatasetCheck(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'check [name]',
    description:
      'Open the files where they lie and say what is wrong, what it means and what to do; no ' +
      'server is needed. Ends with 1 when a dataset is refused.',
    options: (command) =>
      command.option(
        '--deep',
        'read every value of every file, not only what footers say, and every byte that is served',
      ),
    settings: ['registry', 'state', 'memoryLimit'],
    json: 'print [{name, status: ok|warning|refused, findings: [{code, level, message}]}]',
    examples: [
      'das dataset check',
      'das dataset check financials --deep',
      'das dataset check --registry new/registry.yaml --json',
    ],
  }).action((name: string | undefined, flags: Flags) => check(parts, name, flags))
}

async function check(parts: CliParts, name: string | undefined, flags: Flags): Promise<void> {
  const config = readSettings(['registry', 'state', 'memoryLimit'], flags, parts.environment)
  const registry = await readRegistry(config.registry)
  const context = contextOf(parts, registry, config.state, flags['deep'] === true)
  const opened: OpenedToCheck[] = []
  const openFiles = parts.openFiles(config.memoryLimit)
  for (const each of name === undefined ? registry.datasets.keys() : [name]) {
    opened.push(await openToCheck(each, findDataset(registry, each), registry, openFiles))
  }
  const tools = {
    inspectFiles: parts.inspectFiles(config.memoryLimit),
    measureGain: parts.measureGain(config.memoryLimit),
  }
  const examined: ExaminedDataset[] = []
  await parts.untilInterrupted(async (signal) => {
    for (const each of opened) {
      const progress = progressReport(parts, flags.json === true)
      const report = (rows: InspectProgress) => {
        progress.report({ what: each.dataset.name, ...rows })
      }
      const look = examine(each, context, tools, { signal, report })
      const found = await look.finally(progress.end)
      const { name } = each.dataset
      const versions = versionsFolderOf(config.state)
      const stored = context.deep ? await findStoredDamage(versions, name, signal) : []
      examined.push({ ...found, stored })
    }
  })
  printChecks(parts, examined, context, { json: flags.json === true, ghosts: name === undefined })
}

function contextOf(
  parts: CliParts,
  registry: Registry,
  state: string,
  deep: boolean,
): CheckContext {
  const nowMs = parts.now()
  const sold = readStore(state, (store) => liveGrants(store, nowMs)) ?? []
  return { registry, sold, deep, nowMs }
}

function printChecks(
  parts: CliParts,
  examined: readonly ExaminedDataset[],
  context: CheckContext,
  { json, ghosts }: { readonly json: boolean; readonly ghosts: boolean },
): void {
  const checks = examined.map((each) => checkDataset(each, context))
  const lost = ghosts ? missingDatasetChecks(context) : []
  if (json) printJson(parts, [...checks, ...lost])
  else if (checks.length + lost.length === 0) {
    printLines(parts, 'No dataset yet: the registry is where they are listed.')
  } else {
    const versions = [...examined.map(({ dataset }) => dataset.version), ...lost.map(() => null)]
    const lines = [...checks, ...lost].flatMap((each, index) =>
      checkLines(parts.stdout, each, versions[index] ?? null),
    )
    printLines(parts, ...lines)
  }
  const refused = checks.filter(({ status }) => status === 'refused').length
  if (refused > 0) {
    throw new Error(`${refused} of ${checks.length + lost.length} datasets can't be served.`)
  }
}
