import type { CodeLabels } from '../../columns/codes.js'
import { columnAbout, plainColumn } from '../../columns/column.js'
import type { Column } from '../../columns/column.js'
import { isFloat, noType, typeText } from '../../columns/data-type.js'
import type { DataType } from '../../columns/data-type.js'
import type { Alias } from '../../names/write-names.js'
import { codeLevels, codeProblems, searchProblems } from '../../registry/code-names.js'
import { nameProblems, unknownNameProblems } from '../../registry/column-names.js'
import type { Dictionary } from '../../registry/dictionary.js'
import { inEnglishOrNull, inRussian } from '../../registry/local-text.js'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import type { Problem } from '../../registry/registry.js'
import { quoted } from '../../text.js'
import type { FileColumn, FitQuestion } from '../opener.js'
import type { ContentFile } from './build-version.js'
import type { Partitions } from './partition.js'
import { uniteByTypes, uniteByValues } from './unite-types.js'
import type { UnitedType } from './unite-types.js'

/** A column across all files. */
interface UnitedColumn {
  readonly type: DataType
  readonly required: boolean
  /** The number of files with the column. */
  readonly files: number
}

/** A column of the files before its types are united. */
interface FoundColumn extends Omit<UnitedColumn, 'type'> {
  readonly types: readonly DataType[]
}

/** What the files beside the registry say about columns, by their names in the data. */
export interface ColumnTexts {
  readonly dictionary: Dictionary
  readonly labels: ReadonlyMap<string, CodeLabels>
  /** More names of entities. */
  readonly aliases: readonly Alias[]
}

/**
 * The dataset's columns in stored order: those of the first file, those that later files add, those
 * of the paths. Types widen to one per column; the registry and the dictionary rename, hide and
 * describe.
 */
export function uniteColumns(
  files: readonly ContentFile[],
  partitions: Partitions,
  entry: DatasetEntry,
  { dictionary, labels }: Omit<ColumnTexts, 'aliases'>,
): { readonly columns: readonly Column[]; readonly problems: readonly Problem[] } {
  const united = new Map<string, UnitedColumn>()
  const clashes: Problem[] = []
  for (const [name, { types, ...facts }] of findColumns(files)) {
    const type = uniteColumn(name, types, files, entry)
    united.set(name, { ...facts, type: type.kind === 'type' ? type.type : (types[0] ?? noType) })
    const message = `column ${quoted(name)} has values that were not read yet`
    if (type.kind === 'question') clashes.push({ path: ['files'], message })
    if (type.kind === 'clash') clashes.push({ path: ['files'], message: type.message })
  }
  for (const { name, type, required } of partitions.columns) {
    united.set(name, { type, required, files: files.length })
  }
  // Of values that became another type, some may be served as null: "nan".
  const isFilled = (source: string) =>
    files.every(({ opened: { rows, bounds, fits } }) => {
      return rows === 0 || (bounds.get(source)?.isFull === true && !fits?.has(source))
    })
  const columns = [...united].map(([source, { type, required, files: count }]) => {
    // A number of floating point may be NaN, which is served as null.
    const isRequired = required && !isFloat(type)
    const isPromised = dictionary.get(source)?.nullable === false
    const isProven = count === files.length && (isRequired || (isPromised && isFilled(source)))
    const known = { nullable: !isProven, unproven: isPromised && !isProven }
    return Object.freeze({
      ...describeColumn(source, type, entry, { dictionary, labels }),
      ...known,
    })
  })
  const problems = [
    ...clashes,
    ...partitions.problems,
    ...unknownNameProblems(new Set(united.keys()), entry, dictionary),
    ...nameProblems(columns),
    ...codeProblems(entry, columns),
    ...searchProblems(entry, columns),
  ]
  return { columns, problems }
}

/** What the engine must be asked of the values before the types of all columns can be united. */
export function typeQuestions(
  files: readonly ContentFile[],
  entry: DatasetEntry,
): ReadonlyMap<ContentFile, readonly FitQuestion[]> {
  const questions = new Map<ContentFile, FitQuestion[]>()
  for (const [name, { types }] of findColumns(files)) {
    const type = uniteColumn(name, types, files, entry)
    if (type.kind !== 'question') continue
    for (const file of type.files) {
      const known = questions.get(file)
      if (known) known.push(type.question)
      else questions.set(file, [type.question])
    }
  }
  return questions
}

function uniteColumn(
  name: string,
  types: readonly DataType[],
  files: readonly ContentFile[],
  { columns = {} }: DatasetEntry,
): UnitedType {
  const stated = Object.hasOwn(columns, name) ? columns[name]?.type : undefined
  const type = uniteByTypes(types, stated)
  return type ? { kind: 'type', type } : uniteByValues(name, files, stated)
}

/** Thousands of files share a few lists of columns. */
function findColumns(files: readonly ContentFile[]): ReadonlyMap<string, FoundColumn> {
  const counts = new Map<readonly FileColumn[], number>()
  for (const { opened } of files) {
    counts.set(opened.columns, (counts.get(opened.columns) ?? 0) + 1)
  }
  const found = new Map<string, FoundColumn>()
  for (const [columns, count] of counts) {
    for (const { name, type, required } of columns) {
      const known = found.get(name)
      const before = known?.types ?? []
      const isNew = !before.some((each) => typeText(each) === typeText(type))
      found.set(name, {
        types: isNew ? [...before, type] : before,
        required: required && (known?.required ?? true),
        files: count + (known?.files ?? 0),
      })
    }
  }
  return found
}

function describeColumn(
  source: string,
  type: DataType,
  entry: DatasetEntry,
  { dictionary, labels }: Omit<ColumnTexts, 'aliases'>,
): Column {
  const stated = Object.hasOwn(entry.columns ?? {}, source) ? entry.columns?.[source] : undefined
  const known = dictionary.get(source)
  const hidden = stated?.hidden ?? false
  return {
    ...plainColumn(stated?.name ?? source, type),
    source,
    ...columnAbout((key) => inEnglishOrNull(stated?.[key] ?? known?.[key])),
    russian: columnAbout((key) => inRussian(stated?.[key] ?? known?.[key])),
    asText: stated?.json === 'string',
    levels: codeLevels(stated?.levels, labels.get(source)?.uppers),
    labels: labels.get(source) ?? null,
    searched: !hidden && (stated?.search ?? false),
    check: stated?.check ?? null,
    hidden,
  }
}
