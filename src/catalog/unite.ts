import { plainColumn } from './column.js'
import type { Column } from './column.js'
import { columnRules } from './column-types.js'
import { sameType, typeText, widen } from './data-type.js'
import type { DataType } from './data-type.js'
import type { DictionaryEntry } from './dictionary.js'
import { didYouMean, quoted } from './nearest.js'
import type { OpenedFile } from './opener.js'
import type { DatasetEntry } from './registry-schema.js'

/** A mistake about columns, with the place in the registry where it can be mended. */
export interface Problem {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** Names that would clash with a request's own parameters. */
const reservedNames: readonly string[] = ['select', 'limit', 'cursor', 'format']
/** Names that the engine gives to a row's place; a file's own column would hide it. */
const positionNames: readonly string[] = ['file_row_number', 'file_index', 'filename']

interface UnitedColumn {
  readonly type: DataType
  readonly required: boolean
  /** The first file that holds it, for messages. */
  readonly file: string
  readonly files: number
}

/**
 * The dataset's columns in stored order: those of the first file, then what later files add.
 * Types widen to one per column; the registry and the dictionary rename, hide and describe.
 */
export function uniteColumns(
  opened: readonly { readonly name: string; readonly file: OpenedFile }[],
  entry: DatasetEntry,
  dictionary: ReadonlyMap<string, DictionaryEntry>,
): { readonly columns: readonly Column[]; readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const united = new Map<string, UnitedColumn>()
  for (const { name, file } of opened) addFile(united, name, file, problems)
  const columns = [...united].map(([source, column]) =>
    describeColumn(source, column, opened.length, entry, dictionary),
  )
  problems.push(...nameProblems(columns, entry))
  return { columns, problems }
}

function addFile(
  united: Map<string, UnitedColumn>,
  name: string,
  file: OpenedFile,
  problems: Problem[],
): void {
  for (const { name: source, type, required } of file.columns) {
    const known = united.get(source)
    const wider = known ? widen(known.type, type) : type
    if (!wider) {
      problems.push({
        path: ['files'],
        message:
          `column ${quoted(source)} is ${typeText(known?.type ?? type)} in ${known?.file} and ` +
          `${typeText(type)} in ${name}; no type holds both without loss`,
      })
      continue
    }
    united.set(source, {
      type: wider,
      required: required && (known?.required ?? true),
      file: known?.file ?? name,
      files: (known?.files ?? 0) + 1,
    })
  }
}

function describeColumn(
  source: string,
  united: UnitedColumn,
  files: number,
  entry: DatasetEntry,
  dictionary: ReadonlyMap<string, DictionaryEntry>,
): Column {
  const said = Object.hasOwn(entry.columns ?? {}, source) ? entry.columns?.[source] : undefined
  const known = dictionary.get(source)
  const promised = united.required || known?.nullable === false
  return Object.freeze({
    ...plainColumn(said?.name ?? source, united.type),
    source,
    rules: columnRules(united.type),
    nullable: !promised || united.files < files,
    unit: said?.unit ?? known?.unit ?? null,
    description: said?.description ?? known?.description ?? null,
    asText: said?.json === 'string',
    hidden: said?.hidden ?? false,
  })
}

function nameProblems(columns: readonly Column[], entry: DatasetEntry): readonly Problem[] {
  const problems: Problem[] = []
  const sources = columns.map((column) => column.source)
  for (const source of Object.keys(entry.columns ?? {})) {
    if (sources.includes(source)) continue
    const message = `the files have no column ${quoted(source)}.${didYouMean(source, sources)}`
    problems.push({ path: ['columns', source], message })
  }
  const seen = new Map<string, Column>()
  for (const column of columns) {
    const message = nameProblem(column, seen)
    if (message) problems.push({ path: ['files'], message })
    seen.set(column.name.toLowerCase(), column)
  }
  return problems
}

function nameProblem(column: Column, seen: ReadonlyMap<string, Column>): string | undefined {
  const rename = `rename it: columns: {${JSON.stringify(column.source)}: {name: …}}`
  if (column.source === '') return 'a column has no name'
  if (reservedNames.includes(column.name)) {
    return `column "${column.name}" clashes with the request parameter of that name; ${rename}`
  }
  if (positionNames.includes(column.source.toLowerCase())) {
    return `column "${column.source}" has a name that the engine uses itself; drop it from the files`
  }
  const twin = seen.get(column.name.toLowerCase())
  return twin && `columns "${twin.name}" and "${column.name}" differ in case only; ${rename}`
}

/** A file's columns by name, and a text that is equal for files laid out alike. */
export function fileLayout(file: OpenedFile): {
  readonly types: ReadonlyMap<string, DataType>
  readonly layout: string
} {
  const types = new Map(file.columns.map(({ name, type }) => [name, type]))
  const layout = JSON.stringify(file.columns.map(({ name, type }) => [name, typeText(type)]))
  return { types, layout }
}

/** True when a file holds this column in the dataset's own type, so that no cast is needed. */
export function holdsAsServed(types: ReadonlyMap<string, DataType>, column: Column): boolean {
  const type = types.get(column.source)
  return type !== undefined && sameType(type, column.type)
}
