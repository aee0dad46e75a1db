import type { Test } from 'tap'
import { startWorld } from './world.js'
import type { World } from './world.js'

/** Six rows with a column of every kind; all but `id` are empty in the sixth. */
const rows = `SELECT * FROM (VALUES
  (1, -5, -9007199254740993, 10.00, 0.1, 0.1, true, DATE '2024-01-31',
    TIMESTAMP '2024-01-31 09:30:00.5', TIMESTAMPTZ '2024-01-31 09:30:00+03', TIME '09:30:00',
    'plain', 'A', uuid '00000000-0000-0000-0000-00000000000a', [1], 'ab'::BLOB),
  (2, 0, 9007199254740993, 10.01, -1e300, 16777216, false, DATE '2024-02-29',
    TIMESTAMP '2024-02-29 00:00:00', TIMESTAMPTZ '2024-02-29 00:00:00+00', TIME '00:00:00',
    'a,b', '(x)', uuid '123e4567-e89b-12d3-a456-426614174000', [], ''::BLOB),
  (3, 1, 0, -0.01, 1e-300, -0.5, true, DATE '1969-12-31',
    TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMPTZ '1969-12-31 23:59:59+00', TIME '23:59:59',
    'say "hi" \\', '100%', NULL, NULL, NULL),
  (4, 2, 9223372036854775807, 9999999999999999.99, 5e-324, 3.4028235e38, false,
    DATE '9999-12-31', TIMESTAMP '2024-03-01 12:00:00', TIMESTAMPTZ '2024-03-01 12:00:00+00',
    TIME '12:00:00.000001', '', 'a_b', NULL, NULL, NULL),
  (5, 2147483647, 1000000, 0.00, 'nan'::DOUBLE, 'inf'::FLOAT, true, DATE '2000-01-01',
    TIMESTAMP '2000-01-01 00:00:00', TIMESTAMPTZ '2000-01-01 00:00:00+00', TIME '01:00:00',
    'plainer', 'Ж*', NULL, NULL, NULL),
  (6, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
) v(id, int, big, dec, dbl, flt, flag, day, moment, zoned, clock, text, "2110", uuid, list, bytes)`

const types: Readonly<Record<string, string>> = {
  int: 'INTEGER',
  big: 'BIGINT',
  dec: 'DECIMAL(18,2)',
  dbl: 'DOUBLE',
  flt: 'FLOAT',
}

const casts = Object.entries(types)
  .map(([name, type]) => `${name}::${type} AS ${name}`)
  .join(', ')

/** A world over one dataset, `typed`, with a column of every kind. */
export function startTyped(t: Test): Promise<World> {
  return startWorld(t, {
    files: { 'data/typed.parquet': `SELECT * REPLACE (${casts}) FROM (${rows})` },
    registry: `
datasets:
  typed:
    title: Typed
    files: data/typed.parquet
    key: id
    limit: {default: 3, max: 50}
    plans: {pro: {rows_per_month: 1000000, history: all, price_rub: 0, rate_per_minute: 1000000}}
`,
  })
}
