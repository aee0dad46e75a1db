import type { Dialect } from '../sql/dialect.js'
import { textOf } from '../sql/encode.js'
import { dayOf, encodeScalar, otherText, padded } from './encode/encode-scalar.js'
import { ownJson, ownRow, toJson } from './encode/own-json.js'
import { extremeSql, percentileSql, scaledSum } from './summarize/kept-values.js'

/** DuckDB's SQL. */
export const duckdb: Dialect = {
  functions: {
    distinctEstimate: 'approx_count_distinct',
    isFinite: 'isfinite',
    joinTexts: 'array_to_string',
    matches: 'regexp_matches',
    truncate: 'trunc',
  },
  argumentsMax: Infinity,

  scalar: encodeScalar,
  // DuckDB omits the zero before the point if the type has no digit for it.
  decimalText: ({ width, scale }, value) =>
    width === scale ? `replace(${textOf(value)}, '.', '0.')` : textOf(value),
  otherText,
  mayBeInfinite: ({ rules: { domain } }) =>
    domain.kind === 'float' || (domain.kind === 'grid' && domain.infinities),

  jsonString: toJson,
  jsonList: (list) => `to_json(${list})`,
  ownJson,
  ownRow,
  // A key that is served as null keeps DuckDB's text.
  mapKey: (json, key) => `coalesce(${json}, ${toJson(textOf(key))})`,
  field: (struct, place) => `struct_extract_at(${struct}, ${place})`,
  transform: (list, member, body) => `list_transform(${list}, lambda ${member}: ${body})`,

  outsideOf: () => null,
  contains: (text, word) => `contains(${text}, ${word})`,
  // A range of equal ends would be an equality, for which Bloom filters distinguish 0 and -0.
  isZero: (value, column, parameters) => {
    const zero = parameters.value(column, 0)
    return `(${value} >= ${zero} AND ${value} <= -${zero})`
  },

  dayOf,
  padded,
  floatText: textOf,

  widestInteger: 'HUGEINT',
  integer: String,
  wide: (value) => `(${value})`,
  quotient: (dividend, divisor) => `(${dividend} // ${divisor})`,
  pairs: (json) =>
    `(SELECT p[1] AS code, p[2] AS upper_code
      FROM (SELECT unnest(from_json(${json}, '[["VARCHAR"]]')) AS p))`,
  row: (values) => `row(${values.join(', ')})`,
  digits: (double, count) => `format('{:.${count}g}', ${double})`,

  // Without the cast, DuckDB would add these integers as DOUBLEs.
  summand: ({ type }, value) =>
    type.kind === 'scalar' && type.name === 'UHUGEINT' ? `CAST(${value} AS HUGEINT)` : value,
  partSummand: (value) => value,
  sumOfAnySize: (value) => scaledSum(duckdb, value),
  percentile: percentileSql,
  extreme: extremeSql,

  profilesTexts: false,
  epochMs: (_, value) => `epoch_ms(${value})`,
  // A number may be read a little larger than the maximum that the column's type writes.
  binCounts: (size, edges) => {
    const uppers = [...edges.slice(1, -1).map(String), 'inf']
    const bins = uppers.map((edge) => `'${edge}'`).join()
    return `to_json(map_values(histogram(${size}, [${bins}]::DOUBLE[])))`
  },
}
