import type { Dialect } from './dialect.js'

/**
 * Sums and quotients that are the same whatever the order of the rows, the number of threads and
 * the files: an engine's own sums of DOUBLE differ in their last digits from run to run.
 */

/** Digits of averages, quotients and sums of DOUBLE. */
const digitsShown = 15
/** An exact quotient is computed to at least two digits more than are shown. */
const digitsComputed = digitsShown + 2
/** With more digits in the divisor, `dividend × 10^k` may not fit in the widest integer. */
const divisorDigitsMax = 20

/** A DOUBLE is split into three parts of this many bits: before and twice after the point. */
const partBits = 62n
const part = 2n ** partBits
/** `e0` makes a DOUBLE of it. */
const partDouble = `${part}e0`
/** Makes sums of parts positive, because SQL's division rounds towards zero. */
const offset = 2n ** 120n
/** A group whose largest number is below 2 to this negative power has digits that are lost. */
export const leastBits = 60
const leastDouble = String(2 ** -leastBits)

/** The parts of a DOUBLE, or the sums of the parts of several. */
interface DoubleParts {
  readonly whole: string
  readonly first: string
  readonly second: string
}

/**
 * SQL of the integers that a DOUBLE consists of: v = whole + first / 2^62 + second / 2^124. Sums of
 * integers are exact in any order. NULL for numbers out of range.
 */
export function doubleParts({ functions: { truncate } }: Dialect, value: string): DoubleParts {
  const inRange = `CASE WHEN abs(${value}) < ${partDouble} THEN ${value} END`
  const rest = `((${inRange} - ${truncate}(${inRange})) * ${partDouble})`
  return {
    whole: `CAST(${truncate}(${inRange}) AS BIGINT)`,
    first: `CAST(${truncate}(${rest}) AS BIGINT)`,
    second: `CAST((${rest} - ${truncate}(${rest})) * ${partDouble} AS BIGINT)`,
  }
}

/** SQL that is true for a group of which the parts don't hold every digit. */
export function isOutOfRange(largest: string): string {
  const isTooSmall = `(${largest} > 0 AND ${largest} < ${leastDouble})`
  return `coalesce(${largest} >= ${partDouble} OR ${isTooSmall}, false)`
}

/** SQL of the sum as a DOUBLE. All parts get one sign first, so that nothing cancels out. */
export function sumOfParts(dialect: Dialect, { whole, first, second }: DoubleParts): string {
  const carry = dialect.wide(`${first} + ${floorOver(dialect, second)}`)
  const sum = dialect.wide(`${whole} + ${floorOver(dialect, carry)}`)
  const [high, low] = [restOver(dialect, carry), restOver(dialect, second)]
  const double = (integer: string) => `CAST(${integer} AS DOUBLE)`
  const add = (a: string, b: string, c: string) =>
    `(${double(a)} + (${double(b)} + ${double(c)} / ${partDouble}) / ${partDouble})`
  const [most, all] = [dialect.integer(part - 1n), dialect.integer(part)]
  const negative = add(`-${sum} - 1`, `${most} - ${high}`, `${all} - ${low}`)
  return `CASE WHEN ${sum} >= 0 THEN ${add(sum, high, low)} ELSE -${negative} END`
}

/**
 * SQL of a DOUBLE with the digits that are shown; -0 is 0, because a median of both could be
 * either. Infinity, a result beyond DOUBLE, is an error of a conversion, because it would be served
 * as null.
 */
export function rounded(dialect: Dialect, double: string): string {
  const { isFinite } = dialect.functions
  const shown = `CAST(${dialect.digits('d + 0e0', digitsShown)} AS DOUBLE)`
  const body = `CASE WHEN ${isFinite}(d) THEN ${shown} ELSE CAST(CAST(d AS BIGINT) AS DOUBLE) END`
  return letIn(dialect, 'd', double, body)
}

/**
 * SQL of dividend / divisor × 10^exponent as a DOUBLE with the digits that are shown, rounded half
 * up from the exact quotient of two of the widest integers; NULL where the divisor is 0 or NULL.
 */
export function exactQuotient(
  dialect: Dialect,
  dividend: string,
  divisor: string,
  exponent: number,
): string {
  const { wide, quotient, row } = dialect
  const widthOf = (integer: string) => `length(CAST(${integer} AS VARCHAR))`
  const power = (places: string) =>
    widest(dialect, `rpad('1', CAST(1 + ${places} AS INTEGER), '0')`)
  // q: sign, dividend, divisor. k: places added to the dividend. y: k, quotient. x: and its width.
  const sign = `CASE WHEN (${dividend} < 0) <> (${divisor} < 0) THEN '-' ELSE '' END`
  const q = row([sign, wide(`abs(${dividend})`), wide(`abs(${divisor})`)])
  const k = `greatest(0, ${digitsComputed} - ${widthOf('q[2]')} + ${widthOf('q[3]')})`
  const y = row(['k', quotient(wide(`q[2] * ${power('k')}`), 'q[3]')])
  const x = row(['y[1]', 'y[2]', widthOf('y[2]')])
  const half = `5 * ${power('x[3] - 16')}`
  const digits = quotient(wide(`x[2] + ${half}`), power(`x[3] - ${digitsShown}`))
  const shift = `(x[3] - ${digitsShown} - x[1] + (${exponent}))`
  const text = `q[1] || CAST(${digits} AS VARCHAR) || 'e' || CAST(${shift} AS VARCHAR)`
  const shown = letIn(dialect, 'x', x, `CAST(${text} AS DOUBLE)`)
  const exact = letIn(dialect, 'q', q, letIn(dialect, 'k', k, letIn(dialect, 'y', y, shown)))
  const doubles = `CAST(${dividend} AS DOUBLE) / CAST(${divisor} AS DOUBLE) * 1e${exponent}`
  return `CASE WHEN coalesce(${divisor}, 0) = 0 THEN NULL WHEN ${dividend} = 0 THEN 0e0
    WHEN ${widthOf(`abs(${divisor})`)} > ${divisorDigitsMax} THEN ${rounded(dialect, doubles)}
    ELSE ${exact} END`
}

/** SQL of a DECIMAL of this scale, or an integer, in its smallest steps, as a widest integer. */
export function stepsOf(dialect: Dialect, sum: string, scale: number): string {
  return widest(dialect, scale === 0 ? sum : `replace(CAST(${sum} AS VARCHAR), '.', '')`)
}

/** SQL of a value in the type of the widest integers. */
export function widest({ widestInteger }: Dialect, value: string): string {
  return `CAST(${value} AS ${widestInteger})`
}

/** Names a value within an expression, so that it is written and computed once. */
export function letIn(dialect: Dialect, name: string, value: string, body: string): string {
  return `${dialect.transform(`ARRAY[${value}]`, name, body)}[1]`
}

function floorOver(dialect: Dialect, sum: string): string {
  const shifted = `(${sum} + ${dialect.integer(offset)})`
  const over = dialect.quotient(shifted, dialect.integer(part))
  return dialect.wide(`${over} - ${dialect.integer(offset / part)}`)
}

function restOver({ wide, integer }: Dialect, sum: string): string {
  return wide(`(${sum} + ${integer(offset)}) % ${integer(part)}`)
}
