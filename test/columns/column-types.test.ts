import t from 'tap'
import { plainColumn } from '../../src/columns/column.js'
import type { DataType, ScalarName } from '../../src/columns/data-type.js'
import { operatorNames } from '../../src/columns/operators.js'
import type { Operator } from '../../src/columns/operators.js'
import { filterPredicates } from '../../src/columns/predicate.js'

const list: DataType = { kind: 'list', element: { kind: 'scalar', name: 'INTEGER' } }
const ordered = 'eq ne gt gte lt lte in not_in isdistinct is_null not_null'.split(' ')
const textual = [
  'eq',
  'ne',
  'like',
  'contains',
  'in',
  'not_in',
  'isdistinct',
  'is_null',
  'not_null',
]
const emptiness = ['is_null', 'not_null']

/** The published table: shown type, operators, a value, and the DuckDB types. */
const table: readonly (readonly [
  shown: string,
  operators: readonly string[],
  value: string,
  types: readonly (ScalarName | DataType)[],
])[] = [
  [
    'integer',
    ordered,
    '5',
    [
      'TINYINT',
      'SMALLINT',
      'INTEGER',
      'BIGINT',
      'HUGEINT',
      'UTINYINT',
      'USMALLINT',
      'UINTEGER',
      'UBIGINT',
      'UHUGEINT',
    ],
  ],
  ['number', ordered, '1.5', ['FLOAT', 'DOUBLE', { kind: 'decimal', width: 18, scale: 2 }]],
  [
    'string',
    textual,
    'abc',
    ['VARCHAR', 'UUID', { kind: 'enum', values: ['abc'] }, { kind: 'other', name: 'INTERVAL' }],
  ],
  ['boolean', ['eq', 'ne', 'isdistinct', 'is_null', 'not_null'], 'true', ['BOOLEAN']],
  ['date', ordered, '2024-02-29', ['DATE']],
  [
    'timestamp',
    ordered,
    '2024-02-29T12:00:00',
    ['TIMESTAMP', 'TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS', 'TIMESTAMPTZ'],
  ],
  ['time', ordered, '12:00:00', ['TIME', 'TIME_NS']],
  [
    'json',
    emptiness,
    '',
    [
      list,
      { kind: 'array', element: list, length: 2 },
      { kind: 'struct', fields: [{ name: 'a', type: list }] },
      { kind: 'map', key: list, value: list },
      'VARIANT',
      'JSON',
    ],
  ],
  ['binary', emptiness, '', ['BLOB']],
]

await t.test('each type has its published operators and rejects all others', (t) => {
  for (const [shown, operators, value, types] of table) {
    for (const each of types) {
      const type: DataType = typeof each === 'string' ? { kind: 'scalar', name: each } : each
      const column = plainColumn('x', type)
      t.equal(column.rules.shown, shown, JSON.stringify(type))
      for (const operator of operatorNames) {
        const filter = () => filterPredicates(column, operator, [value])
        if (operators.includes(operator)) t.type(filter(), Array)
        else {
          t.throws(filter, {
            code: 'bad_request',
            detail: `Column "x" (${shown}) has no operator "${operator}". It has: ${operators.join(', ')}.`,
          })
        }
      }
    }
  }
  t.end()
})

await t.test('the error for a malformed value has column, type and example', (t) => {
  const malformed: readonly (readonly [DataType | ScalarName, readonly string[], string])[] = [
    [
      'INTEGER',
      ['', 'abc', '1e', '1,5', '+1', '0x1F', 'null', 'true'],
      'an integer, got ~. Example: x=eq.2024',
    ],
    [
      { kind: 'decimal', width: 18, scale: 2 },
      ['', '1e5.5', '1.5 RUB', '1 500', 'NaN'],
      'a number, got ~. Example: x=eq.1500.25',
    ],
    ['DOUBLE', ['', 'NaN', 'Infinity', '1e', '0,5'], 'a number, got ~. Example: x=eq.0.5'],
    ['BOOLEAN', ['', 'TRUE', '1', 'yes', 't', ' true'], 'a boolean, got ~. Example: x=eq.true'],
    [
      'DATE',
      ['', '2024', '2024-02-30', '29.02.2024', 'today'],
      'a date, got ~. Example: x=eq.2024-12-31',
    ],
    [
      'TIMESTAMP',
      ['', '2024', '2024-02-29T25:00:00', '1709200000', '2024-02-29T12:00:00Z'],
      'a timestamp, got ~. Example: x=eq.2024-12-31T09:30:00',
    ],
    [
      'TIMESTAMPTZ',
      ['', '2024-02-29T12:00:00+16:00', 'yesterday'],
      'a timestamp, got ~. Example: x=eq.2024-12-31T09:30:00Z',
    ],
    ['TIME', ['', '9:30', '24:00:01', '09:30:00Z'], 'a time, got ~. Example: x=eq.09:30:00'],
  ]
  for (const [type, texts, expected] of malformed) {
    const column = plainColumn(
      'x',
      typeof type === 'string' ? { kind: 'scalar', name: type } : type,
    )
    const operators: readonly Operator[] =
      type === 'BOOLEAN' ? ['eq', 'isdistinct'] : ['eq', 'in', 'lt']
    for (const value of texts) {
      const detail = `Column "x" takes ${expected.replace('~', JSON.stringify(value))}`
      for (const operator of operators) {
        t.throws(() => filterPredicates(column, operator, [value]), { code: 'bad_request', detail })
      }
    }
    const example = /eq\.(.*)$/.exec(expected)?.[1] ?? ''
    t.equal(filterPredicates(column, 'eq', [example]).length, 1, 'the example is a value')
  }
  t.end()
})
