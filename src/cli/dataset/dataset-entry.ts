import { rm, writeFile } from 'node:fs/promises'
import { basename, isAbsolute } from 'node:path'
import { isObjectUrl } from '../../versions/objects/object-pattern.js'
import { flowText, scalarText } from '../../registry/yaml-text.js'
import { csvCell } from '../../text.js'
import type { Version } from '../../versions/version.js'

/** A dataset that `das dataset add` writes into the registry. */
export interface Draft {
  readonly name: string
  readonly title: string
  /** For Russian pages and letters; null = the title in both languages. */
  readonly titleRu: string | null
  readonly description: string | null
  readonly source: string | null
  readonly files: readonly string[]
  readonly key: readonly string[]
  readonly history: string | null
  readonly isListed: boolean
  /** Relative to the registry; null = none. */
  readonly dictionary: string | null
  /** Column names in the files → names that can be served. */
  readonly renamed: ReadonlyMap<string, string>
  /** The column that names what a row is about; null = not clear. */
  readonly nameColumn: string | null
  /** A value of the first key column, for the example of a demo subset. */
  readonly example: string | null
}

/** The text of the entry without its name, two spaces a level. */
export function entryText(draft: Draft): string {
  const { title, titleRu, description, source, key, history, dictionary } = draft
  const areInside = draft.files.every((path) => !isAbsolute(path) && !isObjectUrl(path))
  return [
    `title: ${titleRu === null ? scalarText(title) : flowText({ en: title, ru: titleRu })}`,
    ...(description === null ? [] : [`description: ${scalarText(description)}`]),
    ...(source === null ? [] : [`source: ${scalarText(source)}`]),
    `files: ${oneOrMany(draft.files)}${areInside ? ' # relative to this file' : ''}`,
    key.length > 0
      ? `key: [${key.map(scalarText).join(', ')}] # columns for look-ups, the first column first`
      : '# key: [column] # columns for look-ups, the first column first',
    ...(history === null
      ? []
      : [`history: ${scalarText(history)} # plans count years in this column`]),
    ...entityLines(draft),
    ...(draft.isListed ? ['listed: true # listed for visitors without a token'] : []),
    ...(dictionary === null ? [] : [`dictionary: ${scalarText(dictionary)} # units, descriptions`]),
    ...renamedLines(draft.renamed),
    ...demoLines(draft),
    'plans: # change this example before you sell it',
    '  free: { rows_per_month: 1000, history: all, price_rub: 0 }',
    '',
  ].join('\n')
}

function oneOrMany(files: readonly string[]): string {
  const [first = ''] = files
  return files.length === 1 ? scalarText(first) : `[${files.map(scalarText).join(', ')}]`
}

function renamedLines(renamed: Draft['renamed']): readonly string[] {
  if (renamed.size === 0) return []
  const lines = [...renamed].map(
    ([source, name]) => `  ${scalarText(source)}: ${flowText({ name })}`,
  )
  return ['columns: # these names cannot be used in a request', ...lines]
}

/** Where key, name and period are clear: a row for each entity and period. */
function entityLines({ key: [key, ...others], history, nameColumn }: Draft): readonly string[] {
  const isClear = key !== undefined && key !== history && key !== nameColumn
  if (nameColumn === null || !isClear || others.some((name) => name !== history)) return []
  const parts = { key, name: nameColumn, ...(history !== null && { period: history }) }
  return [`entity: ${flowText(parts)} # rows are found by name`]
}

/** A comment, because only the owner decides what is public. */
function demoLines({ key, example }: Draft): readonly string[] {
  const [column] = key
  if (column === undefined || example === null || /[\r\n]/.test(column + example)) return []
  const values = `[${scalarText(example)}]`
  return [`# demo: { ${scalarText(column)}: ${values} } # rows that the public demo token can read`]
}

/**
 * Creates a dictionary with an empty line for each column, then does the work; if the work fails,
 * the dictionary is removed. An existing file is not overwritten. `path` null = no dictionary.
 * @throws Error when the dictionary can't be written
 */
export async function withDictionary(
  path: string | null,
  version: Version,
  work: () => Promise<void>,
): Promise<void> {
  if (path === null) return await work()
  try {
    await writeFile(path, skeleton(version), { flag: 'wx' })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const message = `Can't write ${basename(path)} (${code}). Use --no-dictionary to skip it.`
    throw new Error(message, { cause })
  }
  try {
    await work()
  } catch (cause) {
    await rm(path, { force: true })
    throw cause
  }
}

/** Dictionaries use the column names of the files. */
function skeleton({ columns }: Version): string {
  const lines = columns.map(({ source }) => `${csvCell(source)},,`)
  return ['column,unit,description', ...lines, ''].join('\n')
}
