import t from 'tap'
import { plainColumn } from '../../../src/columns/column.js'
import type { Column } from '../../../src/columns/column.js'
import type { DataType } from '../../../src/columns/data-type.js'
import { filterPredicates } from '../../../src/columns/predicate.js'
import { compilePage } from '../../../src/engine/trino/compile.js'
import { condition } from '../../../src/engine/sql/condition.js'
import { valueLiteral } from '../../../src/engine/trino/literals.js'
import { statement, statementText } from '../../../src/engine/trino/statement.js'
import { TrinoClient } from '../../../src/engine/trino/trino-client.js'
import { dataTypeOf } from '../../../src/engine/trino/trino-types.js'
import type { Version } from '../../../src/versions/version.js'
import { machineClock } from '../../../src/clock.js'

const scalar = (name: DataType & { kind: 'scalar' }): DataType => name
const columnOf = (type: string): Column => plainColumn('x', dataTypeOf(type))
const conditionOf = (type: string, operator: 'eq' | 'lt' | 'gt' | 'in', ...values: string[]) =>
  filterPredicates(columnOf(type), operator, values).map((each) =>
    statement((parameters) => condition(each, () => 'x', parameters)),
  )

await t.test('types of Trino are read, nested ones and unknown ones too', (t) => {
  const timestamp = scalar({ kind: 'scalar', name: 'TIMESTAMP' })
  const cases: readonly (readonly [string, DataType])[] = [
    ['varchar(10)', { kind: 'scalar', name: 'VARCHAR' }],
    ['decimal(10,2)', { kind: 'decimal', width: 10, scale: 2 }],
    ['timestamp(3)', timestamp],
    ['timestamp(9)', { kind: 'other', name: 'timestamp(9)' }],
    ['timestamp(6) with time zone', { kind: 'scalar', name: 'TIMESTAMPTZ' }],
    ['time(6) with time zone', { kind: 'other', name: 'time(6) with time zone' }],
    ['interval day to second', { kind: 'other', name: 'interval day to second' }],
    ['char(3)', { kind: 'other', name: 'char(3)' }],
    ['array(array(real))', { kind: 'list', element: dataTypeOf('array(real)') }],
    [
      'map(varchar, row("a b" integer, c timestamp(6), d decimal(4,1)))',
      {
        kind: 'map',
        key: { kind: 'scalar', name: 'VARCHAR' },
        value: {
          kind: 'struct',
          fields: [
            { name: 'a b', type: { kind: 'scalar', name: 'INTEGER' } },
            { name: 'c', type: timestamp },
            { name: 'd', type: { kind: 'decimal', width: 4, scale: 1 } },
          ],
        },
      },
    ],
    ['row(integer, varchar(3))', dataTypeOf('row(field0 integer, field1 varchar)')],
    ['HyperLogLog', { kind: 'other', name: 'HyperLogLog' }],
    ['odd type!', { kind: 'other', name: 'odd type!' }],
  ]
  for (const [text, type] of cases) t.same(dataTypeOf(text), type, text)
  t.end()
})

await t.test('a value is a literal of exactly its type', (t) => {
  const cases: readonly (readonly [string, bigint | number | string | boolean, string])[] = [
    ['smallint', -5n, `SMALLINT '-5'`],
    ['decimal(9,2)', -5n, `CAST('-0.05' AS DECIMAL(9,2))`],
    ['decimal(38,0)', 10n ** 37n, `CAST('1${'0'.repeat(37)}' AS DECIMAL(38,0))`],
    ['real', -0, `REAL '-0'`],
    ['double', 1e300, `DOUBLE '1e+300'`],
    ['boolean', true, 'true'],
    ['varchar', `it's`, `'it''s'`],
    ['uuid', 1n, `UUID '00000000-0000-0000-0000-000000000001'`],
    ['date', 19_782n, `DATE '2024-02-29'`],
    ['date', -719_529n, `DATE '-0001-12-31'`],
    ['date', 2_932_897n, `DATE '+10000-01-01'`],
    ['time(3)', 34_200_500_000n, `TIME '09:30:00.500000'`],
    ['timestamp(0)', -1n, `TIMESTAMP '1969-12-31 23:59:59.999999'`],
    ['timestamp(3) with time zone', 0n, `TIMESTAMP '1970-01-01 00:00:00.000000 UTC'`],
  ]
  for (const [type, value, text] of cases) t.equal(valueLiteral(columnOf(type), value), text)
  t.end()
})

await t.test('values that Trino has no literal for are decided without one', (t) => {
  const none = (text: string) => [{ text, values: [] }]
  t.same(conditionOf('time(6)', 'lt', '24:00:00'), none('x IS NOT NULL'))
  t.same(conditionOf('time(6)', 'gt', '24:00:00'), none('false'))
  t.same(conditionOf('time(6)', 'in', '24:00:00', '24:00'), none('false'))
  const zoned = 'timestamp(3) with time zone'
  t.same(conditionOf(zoned, 'gt', '-200000-01-01'), none('x IS NOT NULL'))
  t.same(conditionOf(zoned, 'lt', '-200000-01-01'), none('false'))
  t.end()
})

// Guarantee: no text of a caller becomes SQL; each is a literal after USING.
await t.test('texts of callers are bound, whatever they hold', (t) => {
  const key = plainColumn('id "x', dataTypeOf('varchar'))
  const version = {
    table: { url: 'http://trino', catalog: 'c', schema: 's', table: 't"; DROP TABLE u; --' },
    key: [key],
    columns: [key],
  } as unknown as Version
  const hostile = `' OR 1 = 1; -- "?`
  const predicates = filterPredicates(key, 'eq', [hostile])
  const question = { version, predicates, columns: [key], after: null, limit: 10 }
  const { text, values } = compilePage(question, { key: [hostile] })
  t.notMatch(text, '1 = 1')
  t.match(text, `FROM "c"."s"."t""; DROP TABLE u; --"`)
  t.equal(text.split('?').length - 1, values.length)
  t.same(new Set(values), new Set([`''' OR 1 = 1; -- "?'`]))
  const statement = statementText({ text, values })
  t.ok(statement.startsWith(`EXECUTE IMMEDIATE '`))
  t.ok(statement.endsWith(` USING ${values.join(', ')}`))
  t.end()
})

await t.test('a password is never sent unencrypted', (t) => {
  const login = { user: 'das', password: 'secret' }
  t.throws(() => new TrinoClient('http://trino:8080', login, machineClock), /only sent to https/)
  t.doesNotThrow(() => new TrinoClient('https://trino', login, machineClock))
  t.end()
})
