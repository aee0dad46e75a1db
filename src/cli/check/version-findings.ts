import type { Column } from '../../columns/column.js'
import { typeText } from '../../columns/data-type.js'
import { listed, many, quoted } from '../../text.js'
import type { InspectedColumn, InspectedKey, Inspection } from '../../versions/inspector.js'
import type { Version } from '../../versions/version.js'
import { finding } from './finding-table.js'
import type { Finding } from './finding-table.js'

/** Names and types that clients of a version may misread. */
export function columnFindings(version: Version): readonly Finding[] {
  const columns = version.columns.filter(({ hidden }) => !hidden)
  return [
    ...foreignNames(columns),
    ...widenedFloats(version, columns),
    ...zonelessFindings(columns),
    ...brokenPromises(columns),
  ]
}

function foreignNames(columns: readonly Column[]): readonly Finding[] {
  const found = columns.filter(({ name }) => /[^ -~]/.test(name))
  if (found.length === 0) return []
  const message =
    `names with letters beyond ASCII: ${listed(found.map(({ name }) => quoted(name)))}: some ` +
    'generators of clients fail on them; rename them: columns: {NAME: {name: other_name}}'
  return [finding('name_not_ascii', message)]
}

function widenedFloats({ files }: Version, columns: readonly Column[]): readonly Finding[] {
  const found = columns.flatMap(({ name, source, type }) => {
    if (typeText(type) !== 'DOUBLE') return []
    const file = files.find(({ rows, types }) => {
      const stored = types.get(source)
      return rows > 0 && stored !== undefined && typeText(stored) === 'FLOAT'
    })
    return file ? [`${quoted(name)} (FLOAT in ${file.name})`] : []
  })
  if (found.length === 0) return []
  const message =
    `${listed(found)}: FLOAT values are served as DOUBLE, 0.1 as 0.10000000149011612. ` +
    'Write the files with one type'
  return [finding('float_widened', message)]
}

function zonelessFindings(columns: readonly Column[]): readonly Finding[] {
  const found = columns.filter(
    ({ rules, type }) =>
      rules.shown === 'timestamp' && !(type.kind === 'scalar' && type.name === 'TIMESTAMPTZ'),
  )
  if (found.length === 0) return []
  const message =
    `timestamps without a zone in ${namesOf(found)}: served without Z; say in ` +
    'their descriptions which time zone is meant'
  return [finding('no_time_zone', message)]
}

function brokenPromises(columns: readonly Column[]): readonly Finding[] {
  const found = columns.filter(({ unproven }) => unproven)
  if (found.length === 0) return []
  const message =
    `${namesOf(found)} may be empty, although the dictionary says nullable false: a file has ` +
    'empty values there or lacks the column, or its type, such as a list or a floating point ' +
    'number, is not counted; callers read that it may be empty'
  return [finding('nullable_unproven', message)]
}

type Fact = readonly [column: Column, facts: InspectedColumn]

/** Values of a version that its readers may misread. */
export function valueFindings(version: Version, { columns, keys }: Inspection): readonly Finding[] {
  const facts = version.columns.flatMap((column, index): readonly Fact[] => {
    const found = columns[index]
    return found && !column.hidden ? [[column, found]] : []
  })
  if (version.rows === 0) return []
  return [
    ...roundedFindings(facts),
    ...wideFindings(facts),
    ...notFiniteFindings(facts),
    ...(keys ? emptyKeys(version, keys) : []),
    ...emptyFindings(facts),
  ]
}

function roundedFindings(facts: readonly Fact[]): readonly Finding[] {
  const found = facts.flatMap(([{ name, asText }, { rounded }]) => {
    if (!rounded || asText) return []
    const { rows, example } = rounded
    return [`${quoted(name)} (${rows === null ? '' : `${many(rows, 'row')}, `}such as ${example})`]
  })
  if (found.length === 0) return []
  const message =
    `numbers beyond what a double holds in ${listed(found)}: JavaScript, Excel and others round ` +
    'them; serve them as text: columns: {NAME: {json: string}}'
  return [finding('rounded_by_readers', message)]
}

/** Every number of so many digits is a double. */
const digitsOfDouble = 15

/** No value of today is rounded, but the type holds values that are. */
function wideFindings(facts: readonly Fact[]): readonly Finding[] {
  const found = facts.flatMap(([column, { rounded }]) => {
    const isWide = column.type.kind === 'decimal' && column.type.width > digitsOfDouble
    return isWide && !rounded && !column.asText ? [column] : []
  })
  if (found.length === 0) return []
  const message =
    `decimals of more than ${digitsOfDouble} digits in ${namesOf(found)}: readers may ` +
    'round later values; serve them as text: columns: {NAME: {json: string}}'
  return [finding('decimal_wide', message)]
}

function notFiniteFindings(facts: readonly Fact[]): readonly Finding[] {
  const found = facts.flatMap(([{ name }, { notFiniteRows }]) =>
    notFiniteRows ? [`${quoted(name)} (${many(notFiniteRows, 'row')})`] : [],
  )
  if (found.length === 0) return []
  const message =
    `NaN or infinite values in ${listed(found)}: callers get null, and filters treat ` +
    'them as empty; write NULL if that is intended'
  return [finding('not_finite', message)]
}

function emptyKeys({ key }: Version, { emptyRows }: InspectedKey): readonly Finding[] {
  const empty = key.flatMap(({ name }, index) => {
    const rows = emptyRows[index] ?? 0
    return rows === 0 ? [] : [`${quoted(name)} (${many(rows, 'row')})`]
  })
  if (empty.length === 0) return []
  const message = `no value in the key column ${listed(empty)}: no look-up by key finds these rows`
  return [finding('key_empty', message)]
}

function emptyFindings(facts: readonly Fact[]): readonly Finding[] {
  const found = facts.filter(([, { isEmpty }]) => isEmpty).map(([column]) => column)
  if (found.length === 0) return []
  const message =
    `${many(found.length, 'column')} without any value: ${namesOf(found)}; ` +
    'to hide a column: columns: {NAME: {hidden: true}}'
  return [finding('column_empty', message)]
}

function namesOf(columns: readonly Column[]): string {
  return listed(columns.map(({ name }) => quoted(name)))
}

/** Smaller datasets answer fast in any layout. */
const rowsMin = 100_000
const rowGroupRowsMin = 2000

/** What makes questions slow, and how to improve it; `packs`: the server makes forms by itself. */
export function layoutFindings(
  { dataset, key, rows }: Pick<Version, 'dataset' | 'key' | 'rows'>,
  rowGroups: number,
  packs: boolean,
): readonly Finding[] {
  if (rows <= rowsMin) return []
  const average = Math.round(rows / Math.max(rowGroups, 1))
  const slow =
    `row groups have ${average} rows on average: summaries read them slowly; ` +
    'write the files with larger ones'
  const advice =
    `look-ups by ${key[0]?.name} read the files; \`pack: auto\`, or once ` +
    `\`das dataset pack ${dataset}\`, makes copies for them`
  return [
    ...(average < rowGroupRowsMin ? [finding('layout_slow', slow)] : []),
    ...(key.length > 0 && !packs ? [finding('pack_advised', advice)] : []),
  ]
}
