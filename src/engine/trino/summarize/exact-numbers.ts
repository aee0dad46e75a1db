/**
 * Sums and quotients that are the same whatever the order of the rows, in integers of DECIMAL(38):
 * the same arithmetic as with DuckDB, whose HUGEINT has as many digits.
 */

/** Digits of averages, quotients and sums of DOUBLE. */
const digitsShown = 15
/** An exact quotient is computed to at least two digits more than are shown. */
const digitsComputed = digitsShown + 2
/** With more digits in the divisor, `dividend × 10^k` may not fit in 38 digits. */
const divisorDigitsMax = 20

/** A DOUBLE is split into three parts of this many bits: before and twice after the point. */
const partBits = 62n
const part = 2n ** partBits
const partDouble = `DOUBLE '${Number(part)}'`
/** Makes sums of parts positive, because SQL's division rounds towards zero. */
const offset = 2n ** 120n
/** A group whose largest number is below this has digits that the parts don't hold. */
const leastDouble = `DOUBLE '${2 ** -60}'`

/** The sums of the parts of a DOUBLE, by names of the statement. */
export interface PartSums {
  readonly whole: string
  readonly first: string
  readonly second: string
  /** The largest absolute value. */
  readonly largest: string
}

/** SQL of an integer literal of any size. */
function integer(value: bigint): string {
  return `DECIMAL '${value}'`
}

/** SQL of a value as an integer of up to 38 digits. */
export function wide(value: string): string {
  return `CAST(${value} AS DECIMAL(38,0))`
}

/**
 * SQL of the integers that a DOUBLE consists of: v = whole + first / 2^62 + second / 2^124. Sums of
 * integers are exact in any order. NULL for numbers out of range.
 */
export function doubleParts(value: string): Omit<PartSums, 'largest'> {
  const inRange = `CASE WHEN abs(${value}) < ${partDouble} THEN ${value} END`
  const rest = `((${inRange} - truncate(${inRange})) * ${partDouble})`
  const bits = (double: string) => wide(`CAST(${double} AS BIGINT)`)
  return {
    whole: bits(`truncate(${inRange})`),
    first: bits(`truncate(${rest})`),
    second: bits(`truncate((${rest} - truncate(${rest})) * ${partDouble})`),
  }
}

/** SQL that is true for a group of which the parts don't hold every digit. */
export function isOutOfRange({ largest }: Pick<PartSums, 'largest'>): string {
  const isTooSmall = `(${largest} > 0 AND ${largest} < ${leastDouble})`
  return `coalesce(${largest} >= ${partDouble} OR ${isTooSmall}, false)`
}

/** SQL of the sum as a DOUBLE. All parts get one sign first, so that nothing cancels out. */
export function sumOfParts({ whole, first, second }: PartSums): string {
  const carry = wide(`${first} + ${floorOver(second)}`)
  const sum = wide(`${whole} + ${floorOver(carry)}`)
  const [high, low] = [restOver(carry), restOver(second)]
  const double = (value: string) => `CAST(${value} AS DOUBLE)`
  const add = (a: string, b: string, c: string) =>
    `(${double(a)} + (${double(b)} + ${double(c)} / ${partDouble}) / ${partDouble})`
  const negative = add(
    `(-${sum} - 1)`,
    `(${integer(part - 1n)} - ${high})`,
    `(${integer(part)} - ${low})`,
  )
  return `CASE WHEN ${sum} >= 0 THEN ${add(sum, high, low)} ELSE -${negative} END`
}

/** SQL of a DOUBLE sum for numbers of any size: slower, because it sorts them. */
export function sortedSum(value: string): string {
  const pairs = `array_agg(ROW(abs(${value}), ${value})) FILTER (WHERE ${value} IS NOT NULL)`
  const next = '(e[2] - s[2])'
  const step = `ROW(s[1] + ${next}, ((s[1] + ${next}) - s[1]) - ${next})`
  const type = 'ROW(total DOUBLE, error DOUBLE)'
  const zero = `CAST(ROW(DOUBLE '0', DOUBLE '0') AS ${type})`
  return `reduce(array_sort(${pairs}), ${zero}, (s, e) -> CAST(${step} AS ${type}), s -> s[1])`
}

/**
 * SQL of the percentile of a group's sorted values, interpolated like SQL's `percentile_cont`, by
 * DuckDB's formula: values far apart make any other one differ in digits that are shown.
 */
export function percentileOf(sorted: string, percent: number): string {
  const place = `((cardinality(${sorted}) - 1) * DOUBLE '${percent / 100}')`
  const at = (index: string) => `element_at(${sorted}, CAST(${index} AS BIGINT) + 1)`
  const [low, high] = [at(`floor(${place})`), at(`ceiling(${place})`)]
  const share = `(${place} - floor(${place}))`
  return `(${low} * (DOUBLE '1' - ${share}) + ${high} * ${share})`
}

/**
 * SQL of a DOUBLE with the digits that are shown; -0 is 0, because a median of both could be
 * either. A result beyond DOUBLE is an error, because it would be served as null.
 */
export function rounded(double: string): string {
  return letIn(
    'd',
    double,
    `CASE WHEN is_finite(d) THEN CAST(format('%.${digitsShown - 1}e', d + DOUBLE '0') AS DOUBLE)
      ELSE CAST(CAST(d AS BIGINT) AS DOUBLE) END`,
  )
}

/**
 * SQL of dividend / divisor × 10^exponent as a DOUBLE with the digits that are shown, rounded half
 * up from the exact quotient of two integers; NULL where the divisor is 0.
 */
export function exactQuotient(dividend: string, divisor: string, exponent: number): string {
  const power = (places: string) => wide(`rpad('1', CAST(1 + ${places} AS INTEGER), '0')`)
  const width = (value: string) => `length(CAST(${value} AS VARCHAR))`
  const places = `greatest(0, ${digitsComputed} - ${width('q[2]')} + ${width('q[3]')})`
  const half = `(5 * ${power('x[3] - 16')})`
  const digits = quotientOf(`(x[2] + ${half})`, power(`x[3] - ${digitsShown}`))
  const shift = `(x[3] - ${digitsShown} - x[1] + (${exponent}))`
  const text = `(q[1] || CAST(${digits} AS VARCHAR) || 'e' || CAST(${shift} AS VARCHAR))`
  const shown = letIn('x', `ROW(y[1], y[2], ${width('y[2]')})`, `CAST(${text} AS DOUBLE)`)
  const scaled = quotientOf(wide(`q[2] * ${power('k')}`), 'q[3]')
  const long = rounded(
    `CAST(${dividend} AS DOUBLE) / CAST(${divisor} AS DOUBLE) * DOUBLE '1e${exponent}'`,
  )
  const sign = `IF((${dividend} < 0) <> (${divisor} < 0), '-', '')`
  const parts = `ROW(${sign}, ${wide(`abs(${dividend})`)}, ${wide(`abs(${divisor})`)})`
  return `CASE WHEN ${divisor} = 0 THEN NULL WHEN ${dividend} = 0 THEN DOUBLE '0'
    WHEN ${width(`abs(${divisor})`)} > ${divisorDigitsMax} THEN ${long}
    ELSE ${letIn('q', parts, letIn('k', places, letIn('y', `ROW(k, ${scaled})`, shown)))} END`
}

/** SQL of a DECIMAL of this scale as an integer of its smallest steps. */
export function stepsOf(sum: string, scale: number): string {
  return scale === 0 ? wide(sum) : wide(`replace(CAST(${sum} AS VARCHAR), '.', '')`)
}

/** SQL of the integer quotient of two positive integers, rounded down. */
function quotientOf(dividend: string, divisor: string): string {
  return wide(`(${dividend} - ${dividend} % ${divisor}) / ${divisor}`)
}

/** Names a value within an expression, so that it is written and computed once. */
function letIn(name: string, value: string, body: string): string {
  return `transform(ARRAY[${value}], ${name} -> ${body})[1]`
}

function floorOver(sum: string): string {
  return wide(
    `${quotientOf(`(${sum} + ${integer(offset)})`, integer(part))} - ${integer(offset / part)}`,
  )
}

function restOver(sum: string): string {
  return wide(`(${sum} + ${integer(offset)}) % ${integer(part)}`)
}
