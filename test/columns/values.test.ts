import fc from 'fast-check'
import t from 'tap'
import {
  firstDayOfYear,
  floorDivide,
  onGrid,
  parseDate,
  parseExact,
  parseFloating,
  parseTime,
  parseTimestamp,
  parseUuid,
  yearOfDay,
} from '../../src/columns/values.js'
import type { Exact } from '../../src/columns/values.js'
import { decimalText } from './fixtures/predicate-model.js'

const dayMs = 86_400_000

/** A year as ISO 8601 writes it. */
function isoYear(year: number): string {
  if (year >= 0 && year <= 9999) return String(year).padStart(4, '0')
  return `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(5, '0')}`
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0')
}

function dayText(year: number, month: number, day: number): string {
  return `${isoYear(year)}-${twoDigits(month)}-${twoDigits(day)}`
}

/** The day by JavaScript's own calendar; undefined for a day that does not exist. */
function dateDays(year: number, month: number, day: number): bigint | undefined {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const isSame = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return isSame ? BigInt(date.getTime() / dayMs) : undefined
}

await t.test('a date is the right day in every year from 0 to 9999', (t) => {
  const wrong: string[] = []
  for (let year = 0; year <= 9999; year++) {
    for (const [month, day] of [
      [1, 1],
      [2, 28],
      [2, 29],
      [3, 1],
      [12, 31],
    ] as const) {
      const text = dayText(year, month, day)
      if (parseDate(text)?.units !== dateDays(year, month, day)) wrong.push(text)
    }
  }
  t.same(wrong, [])
  t.end()
})

await t.test('real days are accepted and others rejected', (t) => {
  const year = fc.integer({ min: -200_000, max: 200_000 })
  fc.assert(
    fc.property(year, fc.nat(14), fc.nat(33), (year, month, day) => {
      const isMonth = month >= 1 && month <= 12 && day >= 1
      const expected = isMonth ? dateDays(year, month, day) : undefined
      return parseDate(dayText(year, month, day))?.units === expected
    }),
    { numRuns: 5000 },
  )
  t.end()
})

await t.test('each year begins after the one before, over the range of a date column', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: -5_877_641, max: 5_881_580 }), (year) => {
      const [first, last] = [parseDate(dayText(year, 1, 1)), parseDate(dayText(year, 12, 31))]
      const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
      const days = last && first ? last.units - first.units + 1n : 0n
      const next = parseDate(dayText(year + 1, 1, 1))
      return days === (leap ? 366n : 365n) && next?.units === (last?.units ?? 0n) + 1n
    }),
    { numRuns: 3000 },
  )
  t.same(parseDate('-0043-03-15'), parseDate('-00043-03-15'))
  t.same(parseDate(' 12024-01-01'), parseDate('+12024-01-01'), 'a plus that arrived as a space')
  t.end()
})

await t.test('the year of a day and the first day of a year agree', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 31n), max: 2n ** 31n }), (day) => {
      const year = yearOfDay(day)
      return firstDayOfYear(year) <= day && day < firstDayOfYear(year + 1n)
    }),
    { numRuns: 3000 },
  )
  t.equal(yearOfDay(-1n), 1969n)
  t.equal(yearOfDay(0n), 1970n)
  t.equal(yearOfDay(364n), 1970n)
  t.equal(yearOfDay(365n), 1971n)
  t.equal(yearOfDay(-719_528n), 0n)
  t.equal(yearOfDay(-719_529n), -1n)
  t.end()
})

await t.test('text that is not a date is rejected', (t) => {
  const texts = [
    '',
    '2024',
    '2024-1-1',
    '2024-01-1',
    '24-01-01',
    '20240101',
    '2024-00-01',
    '2024-13-01',
    '2024-01-00',
    '2024-01-32',
    '2023-02-29',
    '1900-02-29',
    '12024-01-01',
    '2024-01-01 ',
    ' 2024-01-01',
    '2024-01-01T00:00:00',
    '2024/01/01',
    'today',
    'infinity',
    '٢٠٢٤-01-01',
    '+2024-01-01',
    '+123456789-01-01',
    '2024-01-01\n',
    '0044-03-15 (BC)',
  ]
  for (const text of texts) t.equal(parseDate(text), undefined, JSON.stringify(text))
  t.end()
})

await t.test('a timestamp is its seconds since 1970, with every digit', (t) => {
  const parts = fc.record({
    ms: fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }).map((s) => s * 1000),
    fraction: fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 9 }),
    separator: fc.constantFrom('T', ' '),
  })
  fc.assert(
    fc.property(parts, ({ ms, fraction, separator }) => {
      const text = new Date(ms).toISOString().slice(0, 19).replace('T', separator)
      const found = parseTimestamp(fraction === '' ? text : `${text}.${fraction}`, false)
      const units = BigInt(ms / 1000) * 10n ** BigInt(fraction.length) + BigInt(fraction || 0)
      return found?.units === units && found.scale === fraction.length
    }),
    { numRuns: 3000 },
  )
  t.same(parseTimestamp('2024-02-29', false), parseTimestamp('2024-02-29T00:00:00', false))
  t.same(parseTimestamp('2024-02-29T12:30', false), parseTimestamp('2024-02-29T12:30:00', false))
  t.equal(seconds('2024-02-29T24:00:00'), seconds('2024-03-01'), 'the end of a day')
  t.equal(seconds('-0043-03-15T00:00:00'), BigInt(Date.parse('-000043-03-15T00:00:00Z') / 1000))
  t.equal(seconds('+12024-01-01T00:00:00.5'), undefined, 'half a second is on no whole second')
  t.end()
})

function seconds(text: string, hasZone = false): bigint | undefined {
  const value = parseTimestamp(text, hasZone)
  const place = value && onGrid(value, 0)
  return place?.exact ? place.floor : undefined
}

await t.test('a zone moves a timestamp to UTC, if the column has a time zone', (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom('+', '-', ' '),
      fc.nat(15),
      fc.nat(59),
      fc.constantFrom(':', ''),
      (sign, hours, minutes, colon) => {
        const zone = `${sign}${twoDigits(hours)}${colon}${twoDigits(minutes)}`
        const iso = `${sign === '-' ? '-' : '+'}${twoDigits(hours)}:${twoDigits(minutes)}`
        const expected = BigInt(Date.parse(`2024-02-29T12:00:00${iso}`) / 1000)
        return seconds(`2024-02-29T12:00:00${zone}`, true) === expected
      },
    ),
    { numRuns: 500 },
  )
  const noon = seconds('2024-02-29T12:00:00')
  for (const zone of ['Z', 'z', '+00', '-00:00', '+0000', '']) {
    t.equal(seconds(`2024-02-29T12:00:00${zone}`, true), noon, zone)
  }
  t.equal(seconds('2024-02-29T12:00:00+03', true), (noon ?? 0n) - 10_800n)
  for (const zone of ['Z', '+03:00', ' 03:00']) {
    t.equal(seconds(`2024-02-29T12:00:00${zone}`, false), undefined, 'no zone in such a column')
  }
  for (const zone of ['+16:00', '+03:60', '+3', '+3:00', 'UTC', ' ', 'Z ', '+03:00:00', 'ZZ']) {
    t.equal(seconds(`2024-02-29T12:00:00${zone}`, true), undefined, zone)
  }
  t.equal(seconds('2024-02-29Z', true), undefined, 'a day alone has no zone')
  t.end()
})

await t.test('text that is not a timestamp or time is rejected', (t) => {
  const clocks = [
    '24:00:01',
    '25:00:00',
    '12:60:00',
    '12:00:60',
    '1:00:00',
    '12:0:00',
    '12',
    '12:00:00.',
    '12:00:00.1234567890',
    '12:00:00,5',
    '12:00:00 ',
    '-1:00:00',
    '',
  ]
  for (const clock of clocks) {
    t.equal(parseTime(clock), undefined, clock)
    t.equal(parseTimestamp(`2024-02-29T${clock}`, true), undefined, clock)
  }
  for (const text of [
    '2024-02-30T00:00:00',
    '2024-02-29t00:00:00',
    '2024-02-29  00:00:00',
    'now',
  ]) {
    t.equal(parseTimestamp(text, true), undefined, text)
  }
  t.end()
})

await t.test('a time is its seconds since midnight, 24:00:00 included', (t) => {
  t.same(parseTime('00:00'), { units: 0n, scale: 0 })
  t.same(parseTime('09:30:00'), { units: 34_200n, scale: 0 })
  t.same(parseTime('23:59:59.999999'), { units: 86_399_999_999n, scale: 6 })
  t.same(parseTime('24:00:00.000'), { units: 86_400_000n, scale: 3 })
  t.same(parseTime('00:00:00.123456789'), { units: 123_456_789n, scale: 9 })
  t.end()
})

await t.test('a number keeps every digit', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }), fc.nat(50), (units, scale) => {
      const found = parseExact(decimalText({ units, scale }))
      return found?.units === units && found.scale === scale
    }),
    { numRuns: 2000 },
  )
  t.same(parseExact('007.50'), { units: 750n, scale: 2 })
  t.same(parseExact('-0'), { units: 0n, scale: 0 })
  for (const text of [
    '',
    '-',
    '+1',
    ' 1',
    '1 ',
    '1.',
    '.5',
    '1e',
    'e5',
    '1e5.5',
    '1e  5',
    '1e++5',
    '1 e5',
    '1,5',
    '0x10',
    '1_000',
    'NaN',
    '１',
    '--1',
    '1.2.3',
    '1\n',
  ]) {
    t.equal(parseExact(text), undefined, JSON.stringify(text))
  }
  t.equal(parseExact('9'.repeat(1000))?.units, 10n ** 1000n - 1n)
  t.equal(parseExact('9'.repeat(1001)), undefined, 'of no more than 1000 digits')
  t.end()
})

await t.test('an exponent moves the point, exactly', (t) => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
      fc.nat(30),
      fc.integer({ min: -45, max: 45 }),
      (units, scale, exponent) => {
        const found = parseExact(`${decimalText({ units, scale })}e${exponent}`)
        // Both sides in units of 10^-200.
        const at200 = (value: Exact) => value.units * 10n ** BigInt(200 - value.scale)
        return found !== undefined && at200(found) === at200({ units, scale: scale - exponent })
      },
    ),
    { numRuns: 2000 },
  )
  t.same(parseExact('1e 5'), parseExact('1E+5'), 'a plus that arrived as a space')
  t.same(parseExact('-0.00e99999'), { units: 0n, scale: 0 })
  t.end()
})

// Guarantee: parsing a number takes time by the length of its text, not by its size.
await t.test('a number beyond the range of all columns keeps its sign and size class', (t) => {
  const far = ['1e101', '1e999999999', `1e${'9'.repeat(990)}`, `${'9'.repeat(900)}e1`, '0.01e105']
  for (const text of far) {
    for (const sign of ['', '-']) {
      const { floor, exact } = onGrid(parseExact(sign + text) ?? { units: 0n, scale: 0 }, 38)
      t.ok(exact && String(floor).length < 150, text.slice(0, 20))
      t.ok(sign === '' ? floor > 10n ** 80n : floor < -(10n ** 80n), text.slice(0, 20))
    }
  }
  for (const text of ['1e-101', '9e-999999999', `1.5e-${'9'.repeat(990)}`]) {
    t.same(onGrid(parseExact(text) ?? { units: 0n, scale: 0 }, 38), { floor: 0n, exact: false })
    const below = parseExact(`-${text}`) ?? { units: 0n, scale: 0 }
    t.same(onGrid(below, 38), { floor: -1n, exact: false })
  }
  t.end()
})

await t.test('a floating-point number is what JavaScript reads, exponents included', (t) => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      return Object.is(parseFloating(String(value)), value === 0 ? Number(String(value)) : value)
    }),
    { numRuns: 2000 },
  )
  t.equal(parseFloating('1e 5'), 100_000, 'a plus that arrived as a space')
  t.equal(parseFloating('-2.5E-3'), -0.0025)
  t.equal(parseFloating('1e400'), Infinity)
  for (const text of [
    '',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e',
    'e5',
    '1e5.5',
    '.5',
    '5.',
    '0x1',
    '1 e5',
    '1e  5',
    '9'.repeat(1001),
  ]) {
    t.equal(parseFloating(text), undefined, text.slice(0, 20))
  }
  t.end()
})

await t.test('the step at or below a value is found, and whether the value is on it', (t) => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
      fc.nat(12),
      fc.nat(12),
      (units, scale, gridScale) => {
        const { floor, exact } = onGrid({ units, scale }, gridScale)
        // floor × 10^-gridScale ≤ units × 10^-scale < (floor + 1) × 10^-gridScale
        const [step, value] = [10n ** BigInt(scale), units * 10n ** BigInt(gridScale)]
        return (
          floor * step <= value && value < (floor + 1n) * step && exact === (floor * step === value)
        )
      },
    ),
    { numRuns: 3000 },
  )
  t.equal(floorDivide(-7n, 2n), -4n)
  t.equal(floorDivide(7n, 2n), 3n)
  t.end()
})

await t.test('a UUID is the same number in either case', (t) => {
  t.equal(parseUuid('00000000-0000-0000-0000-0000000000ff'), 255n)
  t.equal(parseUuid('FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'), 2n ** 128n - 1n)
  for (const text of [
    '',
    'x',
    '0'.repeat(32),
    '{00000000-0000-0000-0000-0000000000ff}',
    '00000000-0000-0000-0000-0000000000fg',
  ]) {
    t.equal(parseUuid(text), undefined, text)
  }
  t.end()
})
