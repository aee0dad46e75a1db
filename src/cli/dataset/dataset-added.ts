import { basename } from 'node:path'
import { curlWithVariable, lookUpPath } from '../../service/first-questions.js'
import type { Version } from '../../versions/version.js'
import type { DatasetCheck } from '../check/dataset-verdict.js'
import type { CliParts } from '../parts.js'
import { count } from '../print.js'
import { entryText } from './dataset-entry.js'
import type { Draft } from './dataset-entry.js'
import type { PathsRead } from './source-paths.js'

/** What `das dataset add` made, or would make. */
export interface Added {
  readonly draft: Draft
  readonly version: Version
  readonly findings: DatasetCheck['findings']
  /** The dictionary was there before. */
  readonly hasDictionary: boolean
  readonly registryPath: string
  /** The server's address. */
  readonly base: string
  /** Datasets that list the very same files. */
  readonly twins: readonly string[]
  readonly found: PathsRead
  readonly isWritten: boolean
}

const exampleLettersMax = 100

/** For programs. */
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
    findings,
    entry: shownEntry(draft).join('\n'),
    next: nextCommands(added),
  }
}

/** The entry alone, and what is to be known of it. */
export function dryLines(added: Added): readonly string[] {
  return [...shownEntry(added.draft), ...remarks(added).map((line) => `# ${line}`)]
}

/** For the owner: what was written, what was found, and how to go on. */
export function addedLines(parts: CliParts, added: Added): readonly string[] {
  const { draft, version } = added
  return [
    `Added to ${basename(added.registryPath)}:`,
    '',
    ...shownEntry(draft),
    '',
    contentText(parts, version),
    ...remarks(added),
    '',
    'A running server takes it by itself within seconds; `das dataset list` shows it. Then sell it,',
    'and ask with the token that was printed:',
    '',
    ...nextCommands(added).map((line) => `  ${line}`),
  ]
}

function shownEntry(draft: Draft): readonly string[] {
  const lines = entryText(draft).trimEnd().split('\n')
  return [`  ${draft.name}:`, ...lines.map((line) => `    ${line}`)]
}

function contentText({ stdout }: CliParts, { rows, columns, files, bytes }: Version): string {
  const many = (amount: number, word: string) =>
    `${count(stdout, amount)} ${word}${amount === 1 ? '' : 's'}`
  const counts = [
    many(rows, 'row'),
    many(columns.length, 'column'),
    many(files.length, 'file'),
    many(bytes, 'byte'),
  ]
  return `Found ${counts.join(', ')}.`
}

function remarks(added: Added): readonly string[] {
  const { draft, findings, found, hasDictionary, twins } = added
  const [pattern = ''] = draft.files
  const renamed = [...draft.renamed].map(
    ([source, name]) => `Column "${source}" is served as "${name}": its own name clashes.`,
  )
  return [
    ...(found.isWhole ? [`Files that are added to ${pattern} later are served too.`] : []),
    ...renamed,
    ...(draft.dictionary === null ? [] : [dictionaryText(draft.dictionary, hasDictionary)]),
    ...twins.map((name) => `warning: the same files are listed as "${name}" already`),
    ...findings.map(({ level, message }) => `${level}: ${message}`),
  ]
}

function dictionaryText(path: string, hasDictionary: boolean): string {
  if (hasDictionary) return `${path} was there: it is used as it is.`
  return `${path} lists the columns: units and descriptions go there.`
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
