/**
 * Sums and quotients that are the same whatever the order of the rows, the number of threads and
 * the files: DuckDB's own sums of DOUBLE differ in their last digits from run to run.
 */

/** Digits of averages, quotients and sums of DOUBLE. */
const digitsShown = 15
/** An exact quotient is computed to at least two digits more than are shown. */
const digitsComputed = digitsShown + 2
/** With more digits in the divisor, `dividend × 10^k` may not fit in a HUGEINT. */
const divisorDigitsMax = 20

/** A DOUBLE is split into three parts of this many bits: before and twice after the point. */
const partBits = 62n
const part = 2n ** partBits
/** Makes sums of parts positive, because DuckDB's division rounds towards zero. */
const offset = 2n ** 120n
/** A group whose largest number is below this has digits that the parts don't hold. */
const leastBits = 60n
/** The inverse of 2 to a smaller power is no DOUBLE; the parts hold the smallest DOUBLEs by it. */
const leastPower = -1000

/** The sums of the parts of a DOUBLE, by names of the statement. */
export interface PartSums {
  readonly whole: string
  readonly first: string
  readonly second: string
  /** The largest absolute value. */
  readonly largest: string
}

/**
 * SQL of the integers that a DOUBLE consists of: v = whole + first / 2^62 + second / 2^124. Sums of
 * integers are exact in any order. NULL for numbers out of range.
 */
export function doubleParts(value: string): Omit<PartSums, 'largest'> {
  const inRange = `CASE WHEN abs(${value}) < ${part}::DOUBLE THEN ${value} END`
  const rest = `((${inRange} - trunc(${inRange})) * ${part}::DOUBLE)`
  return {
    whole: `CAST(trunc(${inRange}) AS BIGINT)`,
    first: `CAST(trunc(${rest}) AS BIGINT)`,
    second: `CAST((${rest} - trunc(${rest})) * ${part}::DOUBLE AS BIGINT)`,
  }
}

/** SQL that is true for a group of which the parts don't hold every digit. */
export function isOutOfRange({ largest }: Pick<PartSums, 'largest'>): string {
  const least = `(1 / ${2n ** leastBits}::DOUBLE)`
  const isTooSmall = `(${largest} > 0 AND ${largest} < ${least})`
  return `coalesce(${largest} >= ${part}::DOUBLE OR ${isTooSmall}, false)`
}

/** SQL of the sum as a DOUBLE. All parts get one sign first, so that nothing cancels out. */
export function sumOfParts({ whole, first, second }: Omit<PartSums, 'largest'>): string {
  const carry = `(${first} + ${floorOver(second)})`
  const sum = `(${whole} + ${floorOver(carry)})`
  const [high, low] = [restOver(carry), restOver(second)]
  const double = (integer: string) => `CAST(${integer} AS DOUBLE)`
  const add = (a: string, b: string, c: string) =>
    `(${double(a)} + (${double(b)} + ${double(c)} / ${part}::DOUBLE) / ${part}::DOUBLE)`
  const negative = add(`-${sum} - 1`, `${part} - 1 - ${high}`, `${part} - ${low}`)
  return `CASE WHEN ${sum} >= 0 THEN ${add(sum, high, low)} ELSE -${negative} END`
}

/**
 * SQL of a DOUBLE sum for numbers of any size: slower, because it keeps them, to multiply them by
 * the power of two that brings the largest one close to 2^61. The parts then hold all digits of
 * numbers that are up to 2^132 times smaller.
 */
export function scaledSum(value: string): string {
  const sumOf = (sql: string) => `list_sum(list_transform(x, lambda e: ${sql}))`
  const { whole, first, second } = doubleParts('e')
  const sums = `{whole: ${sumOf(whole)}, first: ${sumOf(first)}, second: ${sumOf(second)}}`
  const parts = { whole: 's.whole', first: 's.first', second: 's.second' }
  const power = `coalesce(greatest(ceil(log2(nullif(m, 0))) - ${leastBits + 1n}, ${leastPower}), 0)`
  const largest = 'list_max(list_transform(l, lambda e: abs(e)))'
  const scaled = letIn(
    'x',
    'list_transform(l, lambda e: e * pow(2::DOUBLE, -p))',
    `${letIn('s', sums, sumOfParts(parts))} * pow(2::DOUBLE, p)`,
  )
  return letIn('l', listOf(value), letIn('m', largest, letIn('p', power, scaled)))
}

/**
 * SQL of the list of a group's values that are not NULL; NULL for an empty list. An aggregate over
 * the list gives the same as over the group. But aggregates that keep values themselves
 * (`quantile_cont`, `min` of texts, any with ORDER BY) keep them in memory that DuckDB's limit does
 * not count, and that is never freed when the query is stopped.
 */
export function listOf(value: string, isPresent = value): string {
  return `list(${value}) FILTER (${isPresent} IS NOT NULL)`
}

/**
 * SQL of a DOUBLE with the digits that are shown; -0 is 0, because a median of both could be
 * either. Infinity, a result beyond DOUBLE, is an error of type Conversion, because it would be
 * served as null.
 */
export function rounded(double: string): string {
  return letIn(
    'd',
    double,
    `CASE WHEN isfinite(d) THEN CAST(format('{:.${digitsShown}g}', d + 0) AS DOUBLE)
      ELSE CAST(CAST(d AS HUGEINT) AS DOUBLE) END`,
  )
}

/**
 * SQL of dividend / divisor × 10^exponent as a DOUBLE with the digits that are shown, rounded half
 * up from the exact quotient of two HUGEINTs; NULL where the divisor is 0.
 */
export function exactQuotient(dividend: string, divisor: string, exponent: number): string {
  const power = (places: string) => `CAST('1' || repeat('0', ${places}) AS HUGEINT)`
  const width = (integer: string) => `length(CAST(${integer} AS VARCHAR))`
  const places = `greatest(0, ${digitsComputed} - ${width('q.p')} + ${width('q.d')})`
  const digits = `((x.t + 5 * ${power('x.n - 16')}) // ${power(`x.n - ${digitsShown}`)})`
  const text = `(x.s || ${digits} || 'e' || (x.n - ${digitsShown} - x.k + (${exponent})))`
  const shown = letIn(
    'x',
    `{s: q.s, k: y.k, t: y.t, n: ${width('y.t')}}`,
    `CAST(${text} AS DOUBLE)`,
  )
  const scaled = letIn('y', `{k: k, t: q.p * ${power('k')} // q.d}`, shown)
  const long = rounded(`CAST(${dividend} AS DOUBLE) / CAST(${divisor} AS DOUBLE) * 1e${exponent}`)
  const sign = `CASE WHEN (${dividend} < 0) <> (${divisor} < 0) THEN '-' ELSE '' END`
  const parts = `{s: ${sign}, p: abs(${dividend}), d: abs(${divisor})}`
  return `CASE WHEN ${divisor} = 0 THEN NULL WHEN ${dividend} = 0 THEN 0::DOUBLE
    WHEN ${width(`abs(${divisor})`)} > ${divisorDigitsMax} THEN ${long}
    ELSE ${letIn('q', parts, letIn('k', places, scaled))} END`
}

/** SQL of a DECIMAL of this scale, or an integer, as a HUGEINT of its smallest steps. */
export function stepsOf(sum: string, scale: number): string {
  return scale === 0
    ? `CAST(${sum} AS HUGEINT)`
    : `CAST(replace(CAST(${sum} AS VARCHAR), '.', '') AS HUGEINT)`
}

/** Names a value within an expression, so that it is written once. */
function letIn(name: string, value: string, body: string): string {
  return `list_extract(list_transform([${value}], lambda ${name}: ${body}), 1)`
}

function floorOver(sum: string): string {
  return `((${sum} + ${offset}) // ${part} - ${offset / part})`
}

function restOver(sum: string): string {
  return `((${sum} + ${offset}) % ${part})`
}
