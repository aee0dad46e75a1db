import type { Command } from 'commander'
import { readRegistry, versionsFolderOf } from '../../catalog.js'
import { DeliveryReview } from '../../catalog/delivery-review.js'
import { servedVersion } from '../../catalog/served-version.js'
import type { Dataset } from '../../catalog/dataset.js'
import type { Config } from '../../config.js'
import { newestVersions } from '../../control/dataset-versions.js'
import { liveGrants } from '../../control/grants.js'
import type { Registry } from '../../registry/registry.js'
import { hashFile } from '../../versions/hash-file.js'
import type { InspectProgress } from '../../versions/inspector.js'
import { tableName } from '../../versions/remote-table.js'
import { FileChecks } from '../../versions/store/file-checks.js'
import type { Version } from '../../versions/version.js'
import { addPrinted, readSettings } from '../command.js'
import type { Flags, Result } from '../command.js'
import { commandObjects, progressReport } from '../progress.js'
import type { CliParts, Output } from '../parts.js'
import { amountOf } from '../print.js'
import { findDataset } from '../read-registry.js'
import { OutdatedState } from '../state-file.js'
import { readStore } from '../state.js'
import { checkDataset, missingDatasetChecks, portalChecks } from './dataset-verdict.js'
import type { DatasetCheck } from './dataset-verdict.js'
import { examineDataset, openToCheck } from './examine-dataset.js'
import type { ExaminedDataset } from './examine-dataset.js'

/** `das dataset check`. */
export function addDatasetCheck(group: Command, parts: CliParts): void {
  addPrinted(group, parts, {
    usage: 'check [name]',
    description:
      'Open the files of a dataset, or of all datasets, and report problems and how to fix them. ' +
      'No server is needed. Exits with 1 if a dataset is refused.',
    options: (command) =>
      command.option(
        '--deep',
        'read every value of every file, not only the footers, and the files in the state folder',
      ),
    settings: ['registry', 'state', 'memoryLimit'],
    json: 'print [{name, status: ok|warning|refused, findings: [{code, level, message}]}]',
    examples: [
      'das dataset check',
      'das dataset check financials --deep',
      'das dataset check --registry new/registry.yaml --json',
    ],
    run: (config, flags, name: string | undefined) =>
      checkDatasets(parts, config, flags, name === undefined ? null : [name]),
  })
}

type CheckConfig = Pick<Config, 'registry' | 'state' | 'memoryLimit'>

/** Checks these datasets, or the whole registry with all of its datasets. */
export async function checkDatasets(
  parts: CliParts,
  config: CheckConfig,
  flags: Flags,
  only: readonly string[] | null,
): Promise<Result> {
  const registry = await readRegistry(config.registry)
  const { warnings, portalWarnings } = registry
  for (const line of warnings.filter((each) => !portalWarnings.includes(each))) {
    parts.stderr.write(`warning: ${line}\n`)
  }
  const nowMs = parts.clock.now()
  const sold = (await readStore(parts, config.state, (store) => liveGrants(store, nowMs))) ?? []
  const published = await readStore(parts, config.state, newestVersions).catch((cause: unknown) => {
    if (cause instanceof OutdatedState) return undefined
    throw cause
  })
  const names = only ?? [...registry.datasets.keys()]
  const { examined, datasets } = await examineAll(parts, config, flags, registry, names)
  const context = { registry, sold, published: published ?? new Map(), datasets }
  const verdicts = examined.map((each) => ({
    ...checkDataset(each, context),
    version: each.dataset.version,
  }))
  const missing = only === null ? [...missingDatasetChecks(context), ...portalChecks(registry)] : []
  const all: readonly PrintedCheck[] = [...verdicts, ...missing]
  const refused = verdicts.filter(({ status }) => status === 'refused').length
  return {
    json: all.map(({ name, status, findings }) => ({ name, status, findings })),
    lines:
      all.length === 0
        ? ['The registry lists no dataset. Add one with: das dataset add FILE']
        : all.flatMap((each) => checkLines(parts.stdout, each)),
    failure:
      refused > 0 ? new Error(`${refused} of ${all.length} datasets can't be served.`) : undefined,
  }
}

interface Examination {
  readonly examined: readonly ExaminedDataset[]
  /** Those examined, and those that their links name. */
  readonly datasets: ReadonlyMap<string, Dataset>
}

/** Opens and examines the datasets one after another. */
async function examineAll(
  parts: CliParts,
  { state, memoryLimit }: CheckConfig,
  flags: Flags,
  registry: Registry,
  names: readonly string[],
): Promise<Examination> {
  const deep = flags['deep'] === true
  const inspectFiles = parts.inspectFiles(memoryLimit)
  const checks = new FileChecks(hashFile, parts.clock)
  const versionsFolder = versionsFolderOf(state)
  const trino = readSettings(['trinoUser', 'trinoPassword'], {}, parts.environment)
  const sources = {
    clock: parts.clock,
    openFiles: parts.openFiles(memoryLimit),
    objects: commandObjects(parts, state, flags.json === true),
    openTable: parts.openTable(trino, parts.clock),
  }
  const examined: ExaminedDataset[] = []
  for (const each of names) {
    const opened = await openToCheck(each, registry, sources)
    const progress = progressReport(parts, flags.json === true)
    const report = (rows: InspectProgress) => {
      progress.report({ what: each, ...rows })
    }
    const examine = async (signal: AbortSignal) =>
      examineDataset(opened, {
        delivery: {
          review: new DeliveryReview({ clock: parts.clock, inspectFiles }),
          entry: findDataset(registry, each),
          served: await servedVersion(each, registry, versionsFolder, checks),
        },
        deep,
        inspectFiles,
        ...(deep && { versionsFolder }),
        signal,
        report,
      })
    examined.push(await parts.untilInterrupted(examine).finally(progress.end))
  }
  const datasets = new Map(examined.map(({ dataset }) => [dataset.name, dataset]))
  for (const { dataset: other } of examined.flatMap(({ dataset }) => dataset.links)) {
    if (datasets.has(other)) continue
    datasets.set(other, (await openToCheck(other, registry, sources)).dataset)
  }
  return { examined, datasets }
}

type PrintedCheck = DatasetCheck & { readonly version?: Version | null }

/** The verdict, then the findings, the most important first. */
function checkLines(
  output: Output,
  { name, status, findings, version }: PrintedCheck,
): readonly string[] {
  return [
    `${name}: ${status}${version ? contentText(output, version) : ''}`,
    ...findings.map(({ level, message }) => `  ${level}: ${message}`),
  ]
}

function contentText(output: Output, { rows, columns, files, table }: Version): string {
  const amounts = [
    amountOf(output, rows, 'row'),
    amountOf(output, columns.length, 'column'),
    table ? `table ${tableName(table)}` : amountOf(output, files.length, 'file'),
  ]
  return ` (${amounts.join(', ')})`
}
