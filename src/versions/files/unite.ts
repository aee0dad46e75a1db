import type { CodeLabels } from '../../columns/codes.js'
import { plainColumn } from '../../columns/column.js'
import type { Column } from '../../columns/column.js'
import { typeText, widen } from '../../columns/data-type.js'
import type { DataType } from '../../columns/data-type.js'
import { codeLevels, codeProblems, searchProblems } from '../../registry/code-names.js'
import { nameProblems, unknownNameProblems } from '../../registry/column-names.js'
import type { Dictionary } from '../../registry/dictionary.js'
import { inEnglishOrNull, inRussian } from '../../registry/local-text.js'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import type { Problem } from '../../registry/registry.js'
import { quoted } from '../../text.js'
import type { FileColumn } from '../opener.js'
import type { ContentFile } from './build-version.js'
import type { Partitions } from './partition.js'

/** A column across all files. */
interface UnitedColumn {
  readonly type: DataType
  readonly required: boolean
  /** The first file with the column, for messages. */
  readonly file: string
  /** The number of files with the column. */
  readonly files: number
}

/** What the files beside the registry say about columns, by their names in the data. */
export interface ColumnTexts {
  readonly dictionary: Dictionary
  readonly labels: ReadonlyMap<string, CodeLabels>
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
  { dictionary, labels }: ColumnTexts,
): { readonly columns: readonly Column[]; readonly problems: readonly Problem[] } {
  const united = new Map<string, UnitedColumn>()
  const refused = new Map<string, Problem>()
  for (const [columns, { first, count }] of layoutsOf(files)) {
    for (const column of columns) addColumn(united, refused, first, column, count)
  }
  for (const { name, type, required } of partitions.columns) {
    united.set(name, { type, required, file: '', files: files.length })
  }
  const columns = [...united].map(([source, column]) =>
    describeColumn(source, column, files.length, entry, { dictionary, labels }),
  )
  const problems = [
    ...refused.values(),
    ...partitions.problems,
    ...unknownNameProblems(new Set(united.keys()), entry, dictionary),
    ...nameProblems(columns),
    ...codeProblems(entry, columns),
    ...searchProblems(entry, columns),
  ]
  return { columns, problems }
}

interface LayoutUse {
  readonly first: string
  count: number
}

/** Groups files by their list of columns: thousands of files share a few lists. */
function layoutsOf(files: readonly ContentFile[]): ReadonlyMap<readonly FileColumn[], LayoutUse> {
  const layouts = new Map<readonly FileColumn[], LayoutUse>()
  for (const { source, opened } of files) {
    const known = layouts.get(opened.columns)
    if (known) known.count += 1
    else layouts.set(opened.columns, { first: source.name, count: 1 })
  }
  return layouts
}

/** Reports a column without a common type once, with the first two files that differ. */
function addColumn(
  united: Map<string, UnitedColumn>,
  refused: Map<string, Problem>,
  file: string,
  { name, type, required }: FileColumn,
  files: number,
): void {
  const known = united.get(name)
  if (!known) {
    united.set(name, { type, required, file, files })
    return
  }
  const wider = widen(known.type, type)
  if (wider) {
    const isRequired = known.required && required
    united.set(name, { ...known, type: wider, required: isRequired, files: known.files + files })
  } else if (!refused.has(name)) {
    const message =
      `column ${quoted(name)} is ${typeText(known.type)} in ${known.file} and ` +
      `${typeText(type)} in ${file}; no type holds both without loss`
    refused.set(name, { path: ['files'], message })
  }
}

function describeColumn(
  source: string,
  united: UnitedColumn,
  files: number,
  entry: DatasetEntry,
  { dictionary, labels }: ColumnTexts,
): Column {
  const stated = Object.hasOwn(entry.columns ?? {}, source) ? entry.columns?.[source] : undefined
  const known = dictionary.get(source)
  const hidden = stated?.hidden ?? false
  const isPromised = united.required || known?.nullable === false
  return Object.freeze({
    ...plainColumn(stated?.name ?? source, united.type),
    source,
    nullable: !isPromised || united.files < files,
    unit: inEnglishOrNull(stated?.unit ?? known?.unit),
    description: inEnglishOrNull(stated?.description ?? known?.description),
    russian: {
      unit: inRussian(stated?.unit ?? known?.unit),
      description: inRussian(stated?.description ?? known?.description),
    },
    asText: stated?.json === 'string',
    levels: codeLevels(stated?.levels),
    labels: labels.get(source) ?? null,
    searched: !hidden && (stated?.search ?? false),
    hidden,
  })
}
