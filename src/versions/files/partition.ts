import type { DataType } from '../../columns/data-type.js'
import { integerRanges } from '../../columns/data-type.js'
import { parseDate } from '../../columns/values.js'
import type { Problem } from '../../registry/registry.js'
import { quoted } from '../../text.js'
import type { FileColumn, OpenedFile } from '../opener.js'
import type { SourceFile } from './source-files.js'

/** A file's values of the columns in its path; null for an empty value. */
export type Partition = ReadonlyMap<string, string | null>

/** The columns that a dataset's folder names define. */
export interface Partitions {
  readonly columns: readonly FileColumn[]
  /** One per file, in order, each with every column. */
  readonly ofFiles: readonly Partition[]
  readonly problems: readonly Problem[]
}

interface FileInFolders {
  readonly source: Pick<SourceFile, 'name'>
  readonly opened: Pick<OpenedFile, 'columns'>
}

/** What writers of such folders write for an empty value. */
const emptyMark = '__HIVE_DEFAULT_PARTITION__'

/**
 * Columns from folders named `key=value` (hive). A column of that name in the files has priority.
 * Types keep every letter of every value: `01` is text.
 */
export function readPartitions(files: readonly FileInFolders[]): Partitions {
  const problems: Problem[] = []
  const folders = files.map((file) => readFolders(file, problems))
  const keys = [...new Set(folders.flatMap((folder) => [...folder.keys()]))]
  const columns = keys.filter((key) => isColumn(key, files, folders, problems))
  const ofFiles = folders.map(
    (folder): Partition => new Map(columns.map((key) => [key, folder.get(key) ?? null])),
  )
  return {
    columns: columns.map((name) => {
      const values = [...new Set(ofFiles.map((partition) => partition.get(name) ?? null))]
      return { name, type: typeOf(values), required: !values.includes(null) }
    }),
    ofFiles,
    problems,
  }
}

function readFolders({ source }: FileInFolders, problems: Problem[]): Partition {
  const folders = new Map<string, string | null>()
  for (const folder of source.name.split('/').slice(0, -1)) {
    const [, written = '', value = ''] = /^([^=]+)=([^]*)$/.exec(folder) ?? []
    if (written === '') continue
    const key = decode(written)
    if (folders.has(key)) {
      const message = `${source.name} is in two folders for ${quoted(key)}`
      problems.push({ path: ['files'], message })
    }
    folders.set(key, value === emptyMark ? null : decode(value))
  }
  return folders
}

/** Text that is not percent-encoded stays unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** False for a key that is a column in the files; reports a key that only some files have. */
function isColumn(
  key: string,
  files: readonly FileInFolders[],
  folders: readonly Partition[],
  problems: Problem[],
): boolean {
  const holds = ({ opened }: FileInFolders) =>
    opened.columns.some(({ name }) => name.toLowerCase() === key.toLowerCase())
  const owner = files.find(holds)
  const stranger = owner
    ? files.find((file, index) => folders[index]?.has(key) && !holds(file))
    : files.find((_, index) => !folders[index]?.has(key))
  if (!stranger) return !owner
  const named = files[folders.findIndex((folder) => folder.has(key))]
  const other = owner
    ? `has a column ${quoted(key)} and ${stranger.source.name} has it only in its path`
    : `is in a folder ${quoted(`${key}=…`)} and ${stranger.source.name} is not`
  const message = `${(owner ?? named)?.source.name} ${other}; all files must be alike`
  problems.push({ path: ['files'], message })
  return false
}

function typeOf(values: readonly (string | null)[]): DataType {
  const texts = values.filter((value) => value !== null)
  if (texts.length === 0) return { kind: 'scalar', name: 'VARCHAR' }
  if (texts.every(isInteger)) return { kind: 'scalar', name: 'BIGINT' }
  return { kind: 'scalar', name: texts.every(isDate) ? 'DATE' : 'VARCHAR' }
}

function isInteger(text: string): boolean {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return false
  const { min, max } = integerRanges.BIGINT
  return BigInt(text) >= min && BigInt(text) <= max
}

function isDate(text: string): boolean {
  return /^\d{4}-/.test(text) && !text.startsWith('0000') && parseDate(text) !== undefined
}
