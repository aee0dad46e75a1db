import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataType } from '../../columns/data-type.js'
import { yearOf } from '../../columns/history-value.js'
import type { Predicate } from '../../columns/predicate.js'
import type { Alias } from '../../names/write-names.js'
import type { DataFile, Entity, Version } from '../version.js'
import type { Form } from './form.js'

/** A file to make forms of. */
export type FileToCopy = Omit<DataFile, 'bounds' | 'rowCopy' | 'pages'>

/** A column of the dataset, by its name in the files. */
interface ColumnToCopy {
  readonly source: string
  readonly type: DataType
  readonly asText: boolean
}

/** Columns by their names in the files. */
export interface EntityToIndex {
  readonly key: string
  readonly name: string | null
  readonly period: string | null
  readonly rank: string | null
  readonly aliases: readonly Alias[]
  /** The conditions on the rows that the demo token sees; null without a demo. */
  readonly demo: readonly PlainPredicate[] | null
  /** The year of the newest value of the history column; null without one. */
  readonly newestYear: number | null
}

/** A predicate whose column is given by name. */
export type PlainPredicate = Omit<Predicate, 'column'> & { readonly column: string | null }

/** Which forms to make, as plain data for another process. */
export interface FormsOrder {
  /** Its name in the registry. */
  readonly dataset: string
  /** The folder of the dataset's forms. */
  readonly folder: string
  /** In stored order. */
  readonly files: readonly FileToCopy[]
  readonly columns: readonly ColumnToCopy[]
  /** The columns that rows are found by. */
  readonly lookUps: readonly string[]
  readonly history: string | null
  /** What the index of names is made of; null without one. */
  readonly entity: EntityToIndex | null
  /** Those that are missing, each once: files with the same content share their pages. */
  readonly forms: readonly Form[]
  /** Null = as much as packing profits from, within a share of the machine's memory. */
  readonly memoryLimitBytes: number | null
}

export interface FormsProgress {
  readonly stage: 'writing' | 'indexing'
  /** Of the rows of all forms. */
  readonly rowsDone: number
  readonly rows: number
}

/**
 * Makes forms, and compares every cell with the files. The engine implements this, and `app.ts`
 * passes it in. Calls `report` at least once a second. Finished forms stay after an abort.
 * @throws FileError for a file that can't be read; PackError if a form can't be made without loss
 *   or written; the signal's reason
 */
export type MakeForms = (
  order: FormsOrder,
  options: {
    readonly signal: AbortSignal
    readonly report: (progress: FormsProgress) => void
  },
) => Promise<void>

/** Why a dataset is not packed, for its owner; holds no absolute path. */
export class PackError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'PackError'
  }
}

/** The order to make these forms of a version. */
export function formsOrder(
  version: Version,
  folder: string,
  forms: readonly Form[],
  memoryLimitBytes: number | null,
): FormsOrder {
  const { dataset, files, columns, lookUps, history, entity } = version
  return {
    dataset,
    folder,
    files: files.map(({ bounds: _, rowCopy: __, pages: ___, ...file }) => file),
    columns: columns.map(({ source, type, asText }) => ({ source, type, asText })),
    lookUps: lookUps.map(({ source }) => source),
    history: history?.source ?? null,
    entity: entity && entityToIndex(version, entity),
    forms: [...new Map(forms.map((form) => [form.name, form])).values()],
    memoryLimitBytes,
  }
}

function entityToIndex({ history, newestHistory }: Version, entity: Entity): EntityToIndex {
  const { key, name, period, rank, aliases, demo } = entity
  const newest = history && newestHistory !== undefined ? yearOf(history, newestHistory) : null
  return {
    key: key.source,
    name: name?.source ?? null,
    period: period?.source ?? null,
    rank: rank?.source ?? null,
    aliases,
    demo: demo?.map(plainPredicate) ?? null,
    newestYear: newest === null ? null : Number(newest),
  }
}

function plainPredicate(predicate: Predicate): PlainPredicate {
  return { ...predicate, column: 'column' in predicate ? predicate.column.source : null }
}

/** Where forms are written before they are finished. */
export function draftsOf(folder: string): string {
  return join(folder, 'drafts')
}

/** How much the forms of a file take, as a share of it; those of all files, of all. */
const growth = { rows: 1.5, pages: 1.5, search: 0.25, names: 0.5 } as const
/** What a look-up takes for each row, beside that. */
const lookUpBytes = 12

/** About the most that the forms of an order take on the disk. */
export async function bytesOfForms({ files, forms, lookUps }: FormsOrder): Promise<number> {
  const sizes: number[] = []
  for (const { path } of files) sizes.push((await stat(path).catch(() => null))?.size ?? 0)
  const all = sizes.reduce((sum, size) => sum + size, 0)
  const bytesOf = ({ kind, file }: Form) => {
    const bytes = (file === null ? all : (sizes[file] ?? 0)) * growth[kind]
    if (file === null || kind !== 'rows') return bytes
    return bytes + (files[file]?.rows ?? 0) * lookUps.length * lookUpBytes
  }
  return Math.ceil(forms.reduce((sum, form) => sum + bytesOf(form), 0))
}

/** The rows that making these forms reads. */
export function rowsOfForms({ files }: Pick<FormsOrder, 'files'>, forms: readonly Form[]): number {
  const all = files.reduce((sum, { rows }) => sum + rows, 0)
  return forms.reduce((sum, { file }) => sum + (file === null ? all : (files[file]?.rows ?? 0)), 0)
}
