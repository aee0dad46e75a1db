import { isAbsolute } from 'node:path'
import { flowText, scalarText } from '../../registry/yaml-text.js'

/** What `das dataset add` writes of a dataset. */
export interface Draft {
  readonly name: string
  readonly title: string
  readonly description: string | null
  readonly source: string | null
  readonly files: readonly string[]
  readonly key: readonly string[]
  readonly history: string | null
  readonly isListed: boolean
  /** Relative to the registry; null = none. */
  readonly dictionary: string | null
  /** The files' own names → names that can be served. */
  readonly renamed: ReadonlyMap<string, string>
  /** A value of the first key column, for the example of a demo subset. */
  readonly example: string | null
}

/** The entry's lines as a person would write them, without its name, two spaces a level. */
export function entryText(draft: Draft): string {
  const { description, source, key, history, dictionary } = draft
  const areInside = draft.files.every((path) => !isAbsolute(path))
  return [
    `title: ${scalarText(draft.title)}`,
    ...(description === null ? [] : [`description: ${scalarText(description)}`]),
    ...(source === null ? [] : [`source: ${scalarText(source)}`]),
    `files: ${oneOrMany(draft.files)}${areInside ? ' # relative to this page' : ''}`,
    key.length > 0
      ? `key: [${key.map(scalarText).join(', ')}] # rows are looked up by it, the first column first`
      : '# key: [column] # rows are looked up by it, the first column first',
    ...(history === null
      ? []
      : [`history: ${scalarText(history)} # plans count their years in it`]),
    ...(draft.isListed ? ['listed: true # visitors without a token see it'] : []),
    ...(dictionary === null ? [] : [`dictionary: ${scalarText(dictionary)} # units, descriptions`]),
    ...renamedLines(draft.renamed),
    ...demoLines(draft),
    'plans: # what is sold; this one is here to be changed',
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
  return ['columns: # names that a request could not use', ...lines]
}

/** Not on by itself: what the public sees is the owner's choice. */
function demoLines({ key, example }: Draft): readonly string[] {
  const [column] = key
  if (column === undefined || example === null || /[\r\n]/.test(column + example)) return []
  const values = `[${scalarText(example)}]`
  return [`# demo: { ${scalarText(column)}: ${values} } # what the public demo token may see`]
}
