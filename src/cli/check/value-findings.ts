import type { Column } from '../../columns/column.js'
import { listed, many, quoted } from '../../text.js'
import type { InspectedColumn, Inspection, InspectedKey } from '../../versions/inspector.js'
import type { Version } from '../../versions/version.js'
import { finding } from './finding-table.js'
import type { Finding } from './finding-table.js'

type Fact = readonly [column: Column, facts: InspectedColumn]

/** Values of a version that its readers may misread. */
export function valueFindings(
  version: Version,
  { columns, keys }: Inspection,
  deep: boolean,
): readonly Finding[] {
  const facts = version.columns.flatMap((column, index): readonly Fact[] => {
    const found = columns[index]
    return found && !column.hidden ? [[column, found]] : []
  })
  if (version.rows === 0) return zonelessFindings(version)
  return [
    ...roundedFindings(facts),
    ...notFiniteFindings(facts),
    ...(keys ? keyFindings(version, keys) : []),
    ...wideFindings(facts),
    ...zonelessFindings(version),
    ...emptyFindings(facts),
    ...(deep ? constantFindings(facts) : []),
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

/** No value of today is rounded, but the type holds values that are. */
function wideFindings(facts: readonly Fact[]): readonly Finding[] {
  const found = facts.flatMap(([column, { rounded }]) => {
    const isWide = column.type.kind === 'decimal' && column.type.width > 15
    return isWide && !rounded && !column.asText ? [column] : []
  })
  if (found.length === 0) return []
  const message =
    `decimals of more than 15 digits in ${namesOf(found)}: readers may round later values; ` +
    'serve them as text: columns: {NAME: {json: string}}'
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

function keyFindings(
  { key }: Version,
  { sharingRows, example, emptyRows }: InspectedKey,
): readonly Finding[] {
  const findings: Finding[] = []
  const empty = key.flatMap(({ name }, index) => {
    const rows = emptyRows[index] ?? 0
    return rows === 0 ? [] : [`${quoted(name)} (${many(rows, 'row')})`]
  })
  if (empty.length > 0) {
    const message =
      `no value in the key column ${listed(empty)}: ` + 'no look-up by key finds these rows'
    findings.push(finding('key_empty', message))
  }
  if (example) {
    const names = key.map(({ name }) => name).join(', ')
    const values = key.map(({ name }, index) => `${name} = ${example.values[index] ?? 'null'}`)
    const message =
      `${many(sharingRows, 'row')} with a key (${names}) that other rows have too, such as ` +
      `${values.join(', ')} in ${many(example.rows, 'row')}: a look-up returns all of them; ` +
      'no action is needed if that is intended'
    findings.push(finding('key_shared', message))
  }
  return findings
}

function zonelessFindings({ columns }: Version): readonly Finding[] {
  const found = columns.filter(
    ({ hidden, rules, type }) =>
      !hidden &&
      rules.shown === 'timestamp' &&
      !(type.kind === 'scalar' && type.name === 'TIMESTAMPTZ'),
  )
  if (found.length === 0) return []
  const message =
    `timestamps without a zone in ${namesOf(found)}: served without Z; say in ` +
    'their descriptions which time zone is meant'
  return [finding('no_time_zone', message)]
}

function emptyFindings(facts: readonly Fact[]): readonly Finding[] {
  const found = facts.filter(([, { isEmpty }]) => isEmpty).map(([column]) => column)
  if (found.length === 0) return []
  const message =
    `${many(found.length, 'column')} without any value: ${namesOf(found)}; ` +
    'to hide a column: columns: {NAME: {hidden: true}}'
  return [finding('column_empty', message)]
}

function constantFindings(facts: readonly Fact[]): readonly Finding[] {
  const found = facts.flatMap(([{ name }, { onlyValue }]) =>
    onlyValue === null ? [] : [`${quoted(name)} (${quoted(onlyValue)})`],
  )
  if (found.length === 0) return []
  const message = `only one value in ${listed(found)}; no action is needed if that is intended`
  return [finding('column_constant', message)]
}

function namesOf(columns: readonly Column[]): string {
  return listed(columns.map(({ name }) => quoted(name)))
}
