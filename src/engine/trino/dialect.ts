import type { ScalarName } from '../../columns/data-type.js'
import { isFloat } from '../../columns/data-type.js'
import type { Dialect, EncodedSql, PercentileSql } from '../sql/dialect.js'
import { textOf } from '../sql/encode.js'
import { letIn, widest } from '../sql/exact-numbers.js'
import { literal } from '../sql/quote.js'
import { outsideOf } from './literals.js'

/** Trino's SQL. Its rows are the same texts as DuckDB's. */
export const trino: Dialect = {
  functions: {
    distinctEstimate: 'approx_distinct',
    isFinite: 'is_finite',
    joinTexts: 'array_join',
    matches: 'regexp_like',
    truncate: 'truncate',
  },
  // Trino takes 127.
  argumentsMax: 100,

  scalar: encodeScalar,
  decimalText: (_, value) => textOf(value),
  otherText: (_, value) => textOf(value),
  mayBeInfinite: ({ type }) => isFloat(type),

  jsonString,
  jsonList: jsonOf,
  ownJson: () => null,
  ownRow: () => null,
  mapKey: (json) => json,
  field: (struct, place) => `${struct}[${place}]`,
  transform: (list, member, body) => `transform(${list}, ${member} -> ${body})`,

  outsideOf,
  contains: (text, word) => `strpos(${text}, ${word}) > 0`,
  isZero: (value, column, parameters) =>
    `(${value} >= ${parameters.value(column, -0)} AND ${value} <= ${parameters.value(column, 0)})`,

  dayOf: (name, value) => `CAST(${name === 'TIMESTAMPTZ' ? inUtc(value) : value} AS DATE)`,
  padded: (number, digits) => `format('%0${digits}d', ${number})`,
  floatText: jsonOf,

  widestInteger: 'DECIMAL(38,0)',
  integer: (value) => `DECIMAL '${value}'`,
  wide: (value) => widest(trino, value),
  // Trino's own division of decimals rounds half up.
  quotient: (dividend, divisor) =>
    widest(trino, `(${dividend} - ${dividend} % ${divisor}) / ${divisor}`),
  pairs: (json) =>
    `(SELECT p[1] AS code, p[2] AS upper_code
      FROM UNNEST(CAST(json_parse(${json}) AS ARRAY(ARRAY(VARCHAR)))) AS t(p))`,
  row: (values) => `ROW(${values.join(', ')})`,
  digits: (double, count) => `format('%.${count - 1}e', ${double})`,

  // A sum of BIGINTs alone would overflow.
  summand: ({ type }, value) => (type.kind === 'decimal' ? value : widest(trino, value)),
  partSummand: (value) => widest(trino, value),
  sumOfAnySize,
  percentile: percentileSql,
  extreme: (kind, _, value) => `${kind}(${value})`,

  profilesTexts: true,
  epochMs: ({ rules }, value) =>
    rules.shown === 'date'
      ? `to_unixtime(CAST(${value} AS TIMESTAMP(3))) * 1000`
      : `floor(to_unixtime(${value}) * 1000)`,
  binCounts: (size, edges) => {
    const bins = edges.slice(1).map((upper, index) => {
      const above = index === 0 ? `${size} IS NOT NULL` : `${size} > DOUBLE '${edges[index]}'`
      const upTo = index === edges.length - 2 ? '' : ` AND ${size} <= DOUBLE '${upper}'`
      return `count_if(${above}${upTo})`
    })
    return jsonOf(`ARRAY[${bins.join(', ')}]`)
  },
}

function encodeScalar(name: ScalarName, x: string): EncodedSql {
  switch (name) {
    case 'FLOAT':
    case 'DOUBLE':
      return { sql: numberText(x), form: 'json' }
    case 'VARCHAR':
      return { sql: x, form: 'text' }
    case 'DATE':
      return {
        sql: `(CASE WHEN year(${x}) > 9999 THEN '+' ELSE '' END || ${textOf(x)})`,
        form: 'plain',
      }
    case 'HUGEINT':
    case 'UUID':
      return { sql: textOf(x), form: 'plain' }
    case 'TIME':
      return { sql: withoutZeros(textOf(x)), form: 'plain' }
    case 'TIMESTAMP':
      return { sql: momentText(textOf(x)), form: 'plain' }
    case 'TIMESTAMPTZ': {
      const text = `replace(${textOf(`(${inUtc(x)})`)}, ' UTC', '')`
      return { sql: `(${momentText(text)} || 'Z')`, form: 'plain' }
    }
    case 'BLOB':
      return { sql: `to_base64(${x})`, form: 'plain' }
    case 'JSON':
      return { sql: `nullif(json_format(${x}), 'null')`, form: 'json' }
    default:
      return { sql: textOf(x), form: 'json' }
  }
}

function inUtc(moment: string): string {
  return `${moment} AT TIME ZONE 'UTC'`
}

/** Trino writes every digit of a type's precision; DuckDB omits zeros at the end. */
function withoutZeros(text: string): string {
  return `regexp_replace(${text}, '(\\.\\d*[1-9])0+$|\\.0+$', '$1')`
}

function momentText(text: string): string {
  return `replace(${withoutZeros(text)}, ' ', 'T')`
}

/**
 * SQL for a REAL or DOUBLE as DuckDB writes it: plain digits from 0.0001 to below 1e16, otherwise
 * an exponent of at least two digits; NULL for NaN and ±infinity. The JSON has the shortest digits.
 */
function numberText(x: string): string {
  const exponent = `CAST(regexp_extract(t, 'E(.*)$', 1) AS INTEGER)`
  const plain = `regexp_replace(CAST(CAST(t AS DECIMAL(38,20)) AS VARCHAR), '(\\.\\d+?)0+$', '$1')`
  const scientific = `regexp_replace(t, '(\\.0)?E.*$', '') || 'e' || format('%+03d', ${exponent})`
  const text = letIn(
    trino,
    't',
    jsonOf(x),
    `CASE WHEN strpos(t, 'E') = 0 THEN t ` +
      `WHEN ${exponent} BETWEEN -4 AND 15 THEN ${plain} ELSE ${scientific} END`,
  )
  return `CASE WHEN is_finite(${x}) THEN ${text} END`
}

/** What a JSON string can't have as it is. */
const escaped = literal(String.raw`(["\\\x00-\x1f])`)

/** SQL for a text as a JSON string. Trino's own escapes also characters that need no escape. */
function jsonString(text: string): string {
  const inner = `regexp_extract(${jsonOf('m[1]')}, '^"(.*)"$', 1)`
  return `('"' || regexp_replace(${text}, ${escaped}, m -> ${inner}) || '"')`
}

function jsonOf(value: string): string {
  return `json_format(CAST(${value} AS JSON))`
}

/** Adds the numbers in the order of their sizes, with the error of each addition. */
function sumOfAnySize(value: string): string {
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
function percentileSql(value: string, percent: number): PercentileSql {
  return {
    kept: `array_sort(array_agg(${value}) FILTER (WHERE ${value} IS NOT NULL))`,
    read: (sorted) => {
      const place = `((cardinality(${sorted}) - 1) * DOUBLE '${percent / 100}')`
      const at = (index: string) => `element_at(${sorted}, CAST(${index} AS BIGINT) + 1)`
      const [low, high] = [at(`floor(${place})`), at(`ceiling(${place})`)]
      const share = `(${place} - floor(${place}))`
      return `(${low} * (DOUBLE '1' - ${share}) + ${high} * ${share})`
    },
  }
}
