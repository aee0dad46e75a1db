import type { Column } from './column.js'

/** A column of a formula as it is written: `2110@2024`. */
interface WrittenTerm {
  readonly name: string
  /** The value of the history column; null = every row. */
  readonly at: string | null
  readonly isSubtracted: boolean
}

/** What stands beside a slash: columns joined by `+` or `-`, maybe with a factor in front. */
export interface WrittenSide {
  readonly factor: string | null
  readonly terms: readonly WrittenTerm[]
}

/** An operand of a function as it is written. */
export interface Operand {
  /** The whole as one name: a column may be called `net-profit`. */
  readonly name: string
  /** The same as a formula; null if it does not have the form of one. */
  readonly side: WrittenSide | null
}

/** A column in every row, or in the rows where the history column has one value. */
export interface ColumnAt {
  readonly column: Column
  /** The value, or the year where that column is a date; the column is empty in all other rows. */
  readonly at: bigint | null
  /** The place of the pivot's value that rows need; left out, any. */
  readonly place?: number
}

export interface Term extends ColumnAt {
  readonly isSubtracted: boolean
}

/** An empty column of a side counts as 0 where another of them has a value. */
export interface Side {
  /** Decimal digits, maybe with a point. */
  readonly factor: string | null
  readonly terms: readonly Term[]
}

/** One side divided by the other, in the rows where both have a value and the divisor is not 0. */
export interface Quotient {
  readonly dividend: Side
  readonly divisor: Side
}

/** The columns of an operand, each as often as it is written. */
export function columnsOf(of: ColumnAt | Quotient | null): readonly ColumnAt[] {
  if (of === null) return []
  return 'dividend' in of ? [...of.dividend.terms, ...of.divisor.terms] : [of]
}

const quotedName = String.raw`"(?:[^"\\]|\\["\\])*"`
const factorPattern = /^\s*(\d{1,15}(?:\.\d{1,15})?)\s*\*/
const termPattern = new RegExp(
  String.raw`\s*(${quotedName}|[^\s"+*@-][^"+*@-]*)\s*(?:@\s*(\d{1,9}))?\s*([+-]|$|\s)`,
  'y',
)

/** Parses an operand: a name, maybe in quotes, or a formula. */
export function parseOperand(written: string): Operand {
  return { name: plainName(written), side: parseSide(written) }
}

/** The operand that is one name. */
export function plainOperand(name: string): Operand {
  return { name, side: { factor: null, terms: [{ name, at: null, isSubtracted: false }] } }
}

function parseSide(written: string): WrittenSide | null {
  const [front = '', factor = null] = factorPattern.exec(written) ?? []
  const terms: WrittenTerm[] = []
  let isSubtracted = false
  termPattern.lastIndex = front.length
  do {
    const [, name, at, sign] = termPattern.exec(written) ?? []
    if (name === undefined) return null
    terms.push({ name: plainName(name), at: at ?? null, isSubtracted })
    if (sign !== '' && termPattern.lastIndex === written.length) return null
    isSubtracted = sign === '-'
  } while (termPattern.lastIndex < written.length)
  return { factor, terms }
}

/** A name without its quotes, or without the spaces around it. */
export function plainName(written: string): string {
  const name = written.trim()
  const isQuoted = new RegExp(`^${quotedName}$`).test(name)
  return isQuoted ? name.slice(1, -1).replace(/\\(["\\])/g, '$1') : name
}

/**
 * The formula that an operand means: a column, if the whole is the name of one. A space between the
 * names of columns is a `+` that a URL has decoded. Null if it can't be read, or if its factor is a
 * column's name.
 */
export function meantSide(
  { name, side }: Operand,
  isColumn: (name: string) => boolean,
): WrittenSide | null {
  if (isColumn(name)) return plainOperand(name).side
  // A product of columns may be meant.
  if (!side || (side.factor !== null && isColumn(side.factor))) return null
  const terms = side.terms.flatMap((term) => {
    const names = term.name.split(/\s+/)
    if (isColumn(term.name) || !names.every(isColumn)) return [term]
    const last = names.length - 1
    return names.map((each, index): WrittenTerm => ({
      name: each,
      at: index === last ? term.at : null,
      isSubtracted: index === 0 && term.isSubtracted,
    }))
  })
  return { ...side, terms }
}

/** A formula as a request has it. */
export function sideText(
  { factor, terms }: WrittenSide,
  nameText: (name: string) => string,
): string {
  const texts = terms.map(({ name, at, isSubtracted }, index) => {
    const sign = index === 0 ? '' : isSubtracted ? '-' : '+'
    return `${sign}${nameText(name)}${at === null ? '' : `@${at}`}`
  })
  return `${factor === null ? '' : `${factor}*`}${texts.join('')}`
}

/** The columns of a formula; undefined if one is not found. */
export function resolveSide(
  { factor, terms }: WrittenSide,
  find: (name: string) => Column | undefined,
): Side | undefined {
  const found = terms.flatMap(({ name, at, isSubtracted }) => {
    const column = find(name)
    return column ? [{ column, at: at === null ? null : BigInt(at), isSubtracted }] : []
  })
  return found.length === terms.length ? { factor, terms: found } : undefined
}
