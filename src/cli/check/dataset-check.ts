import type { Command } from 'commander'
import { readRegistry, versionsFolderOf } from '../../catalog.js'
import { DeliveryReview } from '../../catalog/delivery-review.js'
import { servedVersion } from '../../catalog/served-version.js'
import { liveGrants } from '../../control/grants.js'
import { hashFile } from '../../versions/hash-file.js'
import type { InspectProgress } from '../../versions/inspector.js'
import { tableName } from '../../versions/remote-table.js'
import { FileChecks } from '../../versions/store/file-checks.js'
import type { Version } from '../../versions/version.js'
import { addCommand, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import { commandObjects } from '../command-objects.js'
import type { CliParts, Output } from '../parts.js'
import { amountOf, printJson, printLines } from '../print.js'
import { progressReport } from '../progress-bar.js'
import { findDataset } from '../read-registry.js'
import { readStore } from '../state.js'
import { checkDataset, missingDatasetChecks } from './dataset-verdict.js'
import type { DatasetCheck } from './dataset-verdict.js'
import { examineDataset, openToCheck } from './examine-dataset.js'
import type { ExaminedDataset } from './examine-dataset.js'

const lineWidth = 100
const indent = '  '

/** `das dataset check`. */
export function addDatasetCheck(group: Command, parts: CliParts): void {
  addCommand(group, {
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
  }).action((name: string | undefined, flags: Flags) => check(parts, name, flags))
}

/** Opens, examines and judges each dataset; then prints the verdicts. */
async function check(parts: CliParts, name: string | undefined, flags: Flags): Promise<void> {
  const config = readSettings(['registry', 'state', 'memoryLimit'], flags, parts.environment)
  const registry = await readRegistry(config.registry)
  for (const line of registry.warnings) parts.stderr.write(`warning: ${line}\n`)
  const nowMs = parts.clock.now()
  const sold = (await readStore(parts, config.state, (store) => liveGrants(store, nowMs))) ?? []
  const deep = flags['deep'] === true
  const context = { registry, sold, deep }
  const inspectFiles = parts.inspectFiles(config.memoryLimit)
  const checks = new FileChecks(hashFile, parts.clock)
  const versionsFolder = versionsFolderOf(config.state)
  const examined: ExaminedDataset[] = []
  const openFiles = parts.openFiles(config.memoryLimit)
  const objects = commandObjects(parts, config.state, flags.json === true)
  const trino = readSettings(['trinoUser', 'trinoPassword'], {}, parts.environment)
  const sources = {
    clock: parts.clock,
    openFiles,
    objects,
    openTable: parts.openTable(trino, parts.clock),
  }
  for (const each of name === undefined ? registry.datasets.keys() : [name]) {
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
        measureGain: parts.measureGain(config.memoryLimit),
        ...(deep && { versionsFolder }),
        signal,
        report,
      })
    examined.push(await parts.untilInterrupted(examine).finally(progress.end))
  }
  const verdicts = examined.map((each) => ({
    ...checkDataset(each, context),
    version: each.dataset.version,
  }))
  const missing = name === undefined ? missingDatasetChecks(context) : []
  printChecks(parts, [...verdicts, ...missing], flags.json === true)
  const refused = verdicts.filter(({ status }) => status === 'refused').length
  if (refused > 0) {
    throw new Error(`${refused} of ${verdicts.length + missing.length} datasets can't be served.`)
  }
}

type PrintedCheck = DatasetCheck & { readonly version?: Version | null }

function printChecks(parts: CliParts, checks: readonly PrintedCheck[], isJson: boolean): void {
  if (isJson) {
    const json = checks.map(({ name, status, findings }) => ({ name, status, findings }))
    printJson(parts, json)
  } else if (checks.length === 0) {
    printLines(parts, 'The registry lists no dataset. Add one with: das dataset add FILE')
  } else {
    printLines(parts, ...checks.flatMap((each) => checkLines(parts.stdout, each)))
  }
}

/** The verdict, then the findings, the most important first. */
function checkLines(
  output: Output,
  { name, status, findings, version }: PrintedCheck,
): readonly string[] {
  return [
    `${name}: ${status}${version ? contentText(output, version) : ''}`,
    ...findings.flatMap(({ level, message }) => wrapped(output, `${level}: ${message}`)),
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

/** Lines of a readable length on a terminal; elsewhere one line, for tools. */
function wrapped(output: Output, text: string): readonly string[] {
  if (!output.isTTY) return [indent + text]
  const lines: string[] = []
  let line = indent
  for (const word of text.split(' ')) {
    const isBlank = line.trim() === ''
    if (!isBlank && line.length + 1 + word.length > lineWidth) {
      lines.push(line)
      line = indent + indent + word
    } else {
      line += isBlank ? word : ` ${word}`
    }
  }
  return [...lines, line]
}
