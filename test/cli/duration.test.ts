import t from 'tap'
import { parseDuration } from '../../src/cli/duration.js'

await t.test('a duration is a whole number with its unit, or 0', (t) => {
  t.equal(parseDuration('0', '--grace'), 0)
  t.equal(parseDuration('90s', '--grace'), 90_000)
  t.equal(parseDuration('30m', '--grace'), 1_800_000)
  t.equal(parseDuration('24h', '--grace'), 86_400_000)
  t.equal(parseDuration('7d', '--grace'), 604_800_000)
  t.equal(parseDuration('366d', '--grace'), 31_622_400_000)
  t.end()
})

await t.test('anything else is refused with the option and examples', (t) => {
  for (const text of ['', '24', 'h', '-1h', '1.5h', '1 h', '1w', '367d', '99999999999d', '24H']) {
    t.throws(() => parseDuration(text, '--grace'), {
      code: 'bad_request',
      message:
        /^--grace must be a duration of up to a year, such as 30m, 24h, 7d, or 0, got ".*"\.$/,
    })
  }
  t.end()
})
