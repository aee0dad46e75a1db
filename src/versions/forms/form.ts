import { createHash } from 'node:crypto'
import { typeText } from '../../columns/data-type.js'
import { predicateKey } from '../../columns/predicate.js'
import type { Entity, Version } from '../version.js'

/**
 * A derived copy of rows, each for one kind of question:
 *
 * | form     | of        | holds                                                               |
 * | -------- | --------- | ------------------------------------------------------------------- |
 * | `rows`   | a file    | whole rows as texts, found by the key and the other look-up columns |
 * | `pages`  | a file    | the same rows as Parquet in small row groups                        |
 * | `search` | all files | the texts of one column, with the ranges of rows that have them     |
 * | `names`  | all files | the entities, found by their keys and names                         |
 */
export type FormKind = 'rows' | 'pages' | 'search' | 'names'

/** A form that a version should have. */
export interface Form {
  readonly kind: FormKind
  /** Its file in the folder of forms: it depends on all that the form is made from. */
  readonly name: string
  /** The file's index in the version; null for a form of all files. */
  readonly file: number | null
  /** Of a search file: the column, by its name in the files. */
  readonly column: string | null
}

/** Increase one when the layout of its forms changes: then they are made again. */
const layouts: Readonly<Record<FormKind, number>> = {
  rows: 3,
  pages: 1,
  search: 3,
  names: 1,
}

/** A search file names ranges of so many rows; the row groups of pages have as many. */
export const rangeRows = 10_240

/** Whether a file of the folder is a finished form. */
export function isFormName(name: string): boolean {
  return /^[0-9a-f]{32}\.(?:rows|pages|search|names)$/.test(name)
}

/** Whether a file of the folder is an index of names, which every dataset with an entity has. */
export function isNamesForm(name: string): boolean {
  return name.endsWith('.names')
}

/** The forms of a version: those of each file, then those of all. */
export function formsOf(version: Version): readonly Form[] {
  const facts = rowFacts(version)
  const ofFiles = version.files.flatMap((file, index): Form[] => {
    if (file.rows === 0) return []
    return [
      { ...pagesForm(file.contentHash), file: index },
      formOf('rows', [file.contentHash, [...file.partition], facts], index),
    ]
  })
  const contents = version.files.map(({ contentHash }) => contentHash)
  const searched = version.columns.filter((column) => column.searched && version.rows > 0)
  // Unicode decides how texts are folded.
  const unicode = process.versions['unicode']
  const names = version.entity && version.rows > 0 ? namesFacts(version, version.entity) : null
  return [
    ...ofFiles,
    ...(names ? [formOf('names', [unicode, contents, ...names], null)] : []),
    ...searched.map(({ source }) => ({
      ...formOf('search', [unicode, contents, source], null),
      column: source,
    })),
  ]
}

/** The pages of a file with this content. */
export function pagesForm(contentHash: string): Form {
  return formOf('pages', [contentHash], null)
}

/** What the row copies of a version depend on beside each file. */
function rowFacts({ columns, lookUps, history }: Version): unknown {
  return [
    columns.map(({ source, type, asText }) => [source, typeText(type), asText]),
    lookUps.map(({ source }) => source),
    history?.source ?? null,
  ]
}

/** What the index of names depends on beside the files' content. */
function namesFacts({ files, history }: Version, entity: Entity): readonly unknown[] {
  const { key, name, period, rank, aliases, demo } = entity
  const columns = [key, name, period, rank, history].map((column) => {
    return column && [column.source, typeText(column.type), column.asText]
  })
  const partitions = files.map(({ partition }) => [...partition])
  return [columns, partitions, demo?.map(predicateKey) ?? null, aliases]
}

function formOf(kind: FormKind, facts: readonly unknown[], file: number | null): Form {
  const text = JSON.stringify([kind, layouts[kind], ...facts])
  const identity = createHash('sha256').update(text).digest('hex').slice(0, 32)
  return { kind, name: `${identity}.${kind}`, file, column: null }
}
