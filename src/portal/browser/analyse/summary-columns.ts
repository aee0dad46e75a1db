import { parseCalls } from '../../../columns/call-text.js'
import type { Call } from '../../../columns/call-text.js'
import { meantSide, sideText } from '../../../columns/formula.js'
import type { PortalWords } from '../../portal-words-en.js'
import { columnTitle } from '../../writers.js'
import type { DatasetColumn, DefinedMeasure, PageColumn } from '../question/page-column.js'
import type { SummaryQuestion } from '../question/summary-question.js'

/** The columns of an answer. */
export interface SummaryColumns {
  readonly groups: readonly PageColumn[]
  readonly measures: readonly PageColumn[]
  /** The group that is a time; empty if none is. */
  readonly time: string
}

const counting: readonly string[] = ['count', 'distinct']
/** Their values are whole where those of the column are. */
const wholeFunctions: readonly string[] = ['count', 'distinct', 'sum', 'min', 'max']
const dateParts: readonly string[] = ['year', 'quarter', 'month', 'day']
const momentTypes: readonly string[] = ['date', 'timestamp']
const numberTypes: readonly string[] = ['integer', 'number']

interface Facts {
  readonly columns: readonly DatasetColumn[]
  readonly measures: readonly DefinedMeasure[]
  readonly history: string
}

/** Names, types and units of what a question asks for. */
export function summaryColumns(
  facts: Facts,
  question: Pick<SummaryQuestion, 'group' | 'measures'>,
  words: PortalWords,
): SummaryColumns {
  const groups = question.group.flatMap((text) => parseCalls(text, 'group'))
  const time = groups.find((call) => isTime(facts, call))
  return {
    groups: groups.map((call) => groupColumn(facts, call, words)),
    measures: question.measures
      .flatMap((text) => parseCalls(text, 'measures'))
      .map((call) => measureColumn(facts, call, words)),
    time: time ? keyOf(time) : '',
  }
}

/** The heading of what the choices of a question have not. */
export function headingOf(
  facts: Omit<Facts, 'history'>,
  kind: 'group' | 'measures',
  text: string,
  words: PortalWords,
): string {
  const asked = { group: [], measures: [], [kind]: [text] }
  const { groups, measures } = summaryColumns({ ...facts, history: '' }, asked, words)
  const [column] = [...groups, ...measures]
  return column ? columnTitle(column) : text
}

/** The name in the answer. */
function keyOf({ alias, operands, name, text }: Call): string {
  return alias ?? (operands === null ? name : text)
}

function operandColumns({ columns }: Facts, { name, operands }: Call): readonly DatasetColumn[] {
  const names = operands === null ? [name] : (operands[0] ?? []).map((each) => each.name)
  return names.flatMap((each) => columns.find((column) => column.name === each) ?? [])
}

function isTime(facts: Facts, call: Call): boolean {
  if (call.operands !== null) return dateParts.includes(call.name)
  const [column] = operandColumns(facts, call)
  return (
    column !== undefined && (column.name === facts.history || momentTypes.includes(column.type))
  )
}

const plain = {
  label: '',
  section: '',
  unit: '',
  description: '',
  operators: [],
  isKey: false,
  isQuantity: false,
} as const

function groupColumn(facts: Facts, call: Call, words: PortalWords): PageColumn {
  // A level of codes: `okved:section`.
  const [column] = operandColumns(facts, call.alias === null ? call : { ...call, name: call.alias })
  const name = call.alias === null ? keyOf(call) : `${call.alias}:${call.name}`
  const type = call.alias === null && call.operands === null ? column?.type : 'string'
  const { label = '', description = '', levels = {}, levelLabels = {} } = column ?? {}
  const prefix = Object.keys(levels).find((each) => levels[each] === call.text) ?? ''
  const level = call.alias === null ? prefix : call.name
  const part = levelLabels[level] ?? words.dateParts[call.operands === null ? '' : call.name] ?? ''
  const called = [label, part].filter((text) => label !== '' && text !== '').join(', ')
  return { ...plain, name, type: type ?? 'string', label: called, description }
}

function measureColumn(facts: Facts, call: Call, words: PortalWords): PageColumn {
  const named = { ...plain, name: keyOf(call), type: 'number', isQuantity: true } as const
  const defined = facts.measures.find(({ name }) => call.operands === null && name === call.name)
  if (defined) return { ...named, ...defined, name: keyOf(call), isComputed: true }
  const addsUp = call.name === 'sum' || call.name === 'count'
  if (call.operands === null) return { ...named, addsUp, label: words.countRows }
  const sides = sidesOf(facts, call)
  const described = words.functions[call.name] ?? call.name
  const isLabelled = sides.every(({ label }) => label !== '')
  const label = isLabelled ? `${sides.map((side) => side.label).join(' / ')}, ${described}` : ''
  const isFormula = sides.some(({ isPlain }) => !isPlain)
  const what = sides.flatMap(({ columns }) => columns.map((each) => each.description || each.name))
  const formula = call.alias === null ? '' : call.text
  const description = isFormula ? formula : `${described}: ${what.join(' / ')}`
  const isComputed = !wholeFunctions.includes(call.name) || sides.length > 1 || isFormula
  const about = { addsUp, isComputed, label, description }
  if (counting.includes(call.name)) return { ...named, ...about }
  if (isFormula) {
    return {
      ...named,
      ...about,
      unit: call.name === 'growth' ? words.shareUnit : unitOfSides(sides),
    }
  }
  const [column, divisor] = sides.flatMap(({ columns }) => columns)
  if (!column) return { ...named, ...about }
  const unit = divisor ? quotientUnit(column, divisor) : column.unit
  const isFloat = divisor === undefined && column.isFloat === true
  if (numberTypes.includes(column.type)) return { ...named, ...about, unit, isFloat }
  return { ...named, ...about, type: column.type, isQuantity: false }
}

/** The columns of an operand; none if one of them is unknown. */
interface PageSide {
  readonly columns: readonly DatasetColumn[]
  /** Its formula with the labels of its columns; empty if one of them has none. */
  readonly label: string
  /** It is one column in every row, without a factor. */
  readonly isPlain: boolean
  readonly isMultiple: boolean
}

function sidesOf({ columns }: Facts, { operands }: Call): readonly PageSide[] {
  const find = (name: string) => columns.find((column) => column.name === name)
  return (operands?.[0] ?? []).map((operand): PageSide => {
    const side = meantSide(operand, (name) => find(name) !== undefined)
    const { factor = null, terms = [] } = side ?? {}
    const found = terms.flatMap(({ name }) => find(name) ?? [])
    const isWhole = terms.length > 0 && found.length === terms.length
    const isPlain = isWhole && factor === null && terms.length === 1 && terms[0]?.at === null
    const isLabelled = isWhole && found.every((column) => column.label !== '')
    const label = side && isLabelled ? sideText(side, (name) => find(name)?.label ?? name) : ''
    return { columns: isWhole ? found : [], label, isPlain, isMultiple: factor !== null }
  })
}

/** That of the only side, or of a quotient as the service gives it; empty if it is not one unit. */
function unitOfSides(sides: readonly PageSide[]): string {
  const [unit = '', by] = sides.map(({ columns, isMultiple }) => {
    const [only = '', ...others] = new Set(columns.map((column) => column.unit))
    return isMultiple || others.length > 0 ? '' : only
  })
  if (by === undefined || unit === '') return unit
  return unit === by || by === '' ? '' : `${unit} / ${by}`
}

/** A quotient of equal units is a plain number. */
function quotientUnit(dividend: PageColumn, divisor: PageColumn): string {
  if (dividend.unit === '' || dividend.unit === divisor.unit) return ''
  return `${dividend.unit} / ${divisor.unit || divisor.name}`
}
