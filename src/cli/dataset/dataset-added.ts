import { basename } from 'node:path'
import { curlWithVariable, lookUpPath } from '../../service/first-questions.js'
import type { Version } from '../../versions/version.js'
import type { DatasetCheck } from '../check/dataset-verdict.js'
import type { Result } from '../command.js'
import type { CliParts } from '../parts.js'
import { amountOf } from '../print.js'
import { entryText } from './dataset-entry.js'
import type { Draft } from './dataset-entry.js'
import type { PathsRead } from './source-paths.js'
import { importedJson } from './import-table.js'
import type { Imported } from './import-table.js'

/** The result of `das dataset add`, also of a dry run. */
export interface Added {
  readonly draft: Draft
  readonly version: Version
  readonly findings: DatasetCheck['findings']
  /** The dictionary existed before. */
  readonly hasDictionary: boolean
  readonly registryPath: string
  /** Address of the server. */
  readonly base: string
  /** Datasets that list the same files. */
  readonly twins: readonly string[]
  readonly found: PathsRead
  /** Tables of other formats that were written as Parquet. */
  readonly imported: readonly Imported[]
  readonly isWritten: boolean
}

const exampleLettersMax = 100

/** The result in JSON output. */
export function addedJson(added: Added) {
  const { draft, version, findings, isWritten, twins } = added
  return {
    name: draft.name,
    written: isWritten,
    title: draft.title,
    files: draft.files,
    key: draft.key,
    history: draft.history,
    dictionary: draft.dictionary,
    renamed: Object.fromEntries(draft.renamed),
    rows: version.rows,
    columns: version.columns.length,
    file_count: version.files.length,
    bytes: version.bytes,
    same_files_as: twins,
    imported: added.imported.map(importedJson),
    findings,
    entry: shownEntry(draft).join('\n'),
    next: nextCommands(added),
  }
}

/**
 * The result if only Parquet files were written, or would be: `datasets` list them already, and
 * `check` is what `das dataset check` says of these.
 */
export function importedOnly(
  imported: readonly Imported[],
  datasets: readonly string[],
  check: Result | null,
): Result {
  const names = datasets.map((name) => `"${name}"`).join(', ')
  const lines = imported.map(({ target, table }) =>
    check
      ? `Replaced ${basename(target)} of ${names}: ${table.rows} rows.`
      : `${basename(target)} would be written and added. No file was changed.`,
  )
  const json = { written: check !== null, datasets, imported: imported.map(importedJson) }
  if (!check) return { json, lines }
  const { failure } = check
  return {
    json: { ...json, check: check.json },
    lines: [
      ...[...lines, '', ...check.lines, ''],
      failure
        ? 'A running server goes on with what it serves until that is corrected.'
        : 'A running server serves them within seconds.',
    ],
    failure,
  }
}

/** The entry, with the notes as comments. */
export function dryLines(added: Added): readonly string[] {
  return [...shownEntry(added.draft), ...notes(added).map((line) => `# ${line}`)]
}

/** The entry, the notes and the next commands. */
export function addedLines(parts: CliParts, added: Added): readonly string[] {
  const { draft, version } = added
  return [
    `Added to ${basename(added.registryPath)}:`,
    '',
    ...shownEntry(draft),
    '',
    contentText(parts, version),
    ...notes(added),
    '',
    `Name, title, key and history are guesses where no option set them. Change them in`,
    `${basename(added.registryPath)}; das dataset add --help lists the options.`,
    '',
    'A running server serves it within seconds; `das dataset list` shows it. To sell it, and to',
    'query it with the token that is then printed:',
    '',
    ...nextCommands(added).map((line) => `  ${line}`),
  ]
}

function shownEntry(draft: Draft): readonly string[] {
  const lines = entryText(draft).trimEnd().split('\n')
  return [`  ${draft.name}:`, ...lines.map((line) => `    ${line}`)]
}

function contentText({ stdout }: CliParts, { rows, columns, files, bytes }: Version): string {
  const counts = [
    amountOf(stdout, rows, 'row'),
    amountOf(stdout, columns.length, 'column'),
    amountOf(stdout, files.length, 'file'),
    amountOf(stdout, bytes, 'byte'),
  ]
  return `Found ${counts.join(', ')}.`
}

function notes(added: Added): readonly string[] {
  const { draft, findings, found, hasDictionary, twins } = added
  const [pattern = ''] = draft.files
  const renamed = [...draft.renamed].map(
    ([source, name]) =>
      `Column "${source}" is served as "${name}", because its own name can't be used in a URL.`,
  )
  return [
    ...(found.isWhole ? [`New files that match ${pattern} will be served too.`] : []),
    ...renamed,
    ...(draft.dictionary === null ? [] : [dictionaryText(draft.dictionary, hasDictionary)]),
    ...twins.map((name) => `warning: dataset "${name}" already lists the same files`),
    ...findings.map(({ level, message }) => `${level}: ${message}`),
  ]
}

function dictionaryText(path: string, hasDictionary: boolean): string {
  if (hasDictionary) return `${path} exists and is used.`
  return `${path} lists the columns. Write their units and descriptions there.`
}

function nextCommands({ draft, base }: Added): readonly string[] {
  const [column] = draft.key
  const { example, name } = draft
  const isShown = column !== undefined && example !== null && example !== ''
  const path =
    isShown && example.length <= exampleLettersMax
      ? lookUpPath(name, column, example)
      : `/v1/${name}/schema`
  return [
    `das subscription create --email you@example.org --plan ${name}:free`,
    curlWithVariable(base + path),
  ]
}
