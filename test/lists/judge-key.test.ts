import t from 'tap'
import { keyJudge } from '../../src/lists/judge-key.js'
import { keyChecks } from '../../src/columns/tax-number.js'

await t.test('check digits of INN and OGRN of companies and persons', (t) => {
  for (const [check, right] of [
    ['inn', ['7707083893', '0261012138', '500100732259']],
    ['ogrn', ['1027700132195', '1027700092661', '304500116000157']],
  ] as const) {
    for (const text of right) {
      t.ok(keyChecks[check](text), text)
      for (let at = 0; at < text.length; at += 1) {
        const other = (Number(text[at]) + 1) % 10
        const wrong = text.slice(0, at) + other + text.slice(at + 1)
        // A sum modulo 11 that is 10 counts as 0, so a few slips pass.
        if (at === text.length - 1) t.notOk(keyChecks[check](wrong), wrong)
      }
      for (const wrong of [`${text}0`, text.slice(1), ` ${text}`, '']) {
        t.notOk(keyChecks[check](wrong), JSON.stringify(wrong))
      }
    }
  }
  t.end()
})

await t.test('a cell is a key by the type of the column', (t) => {
  const keysOf = (type: 'string' | 'integer' | 'number' | 'date', cells: readonly string[]) =>
    cells.map((cell) => {
      const key = keyJudge({ type }, false)(cell)
      return key.kind === 'key' ? key.key : null
    })
  t.same(keysOf('string', [' 007 ', '\u00a0x', '', '   ', 'a\nb', '\ud800', 'x'.repeat(1001)]), [
    ...['007', 'x', null, null, null, null, null],
  ])
  t.same(keysOf('integer', ['007', '7.0', '-0', '+5', '-7', '1e3', '7,5', '9'.repeat(30)]), [
    ...['7', '7', '0', '5', '-7', null, null, '9'.repeat(30)],
  ])
  t.same(keysOf('number', ['1.50', '.5', '100', '0.0']), ['1.5', null, '100', '0'])
  t.same(keysOf('date', ['2024-02-29', '2023-02-29', '01.02.2024']), ['2024-02-29', null, null])
  t.end()
})

await t.test('a lost zero is offered where the column is a text, and harmless in numbers', (t) => {
  const lost = '261012138'
  const text = { type: 'string', check: 'inn' } as const
  t.same(keyJudge(text, false)(lost), { kind: 'malformed', withZero: `0${lost}` })
  t.same(keyJudge(text, true)(lost), { kind: 'key', key: `0${lost}`, restored: `0${lost}` })
  const asNumber = { kind: 'key', key: '7708004767', restored: null }
  for (const cell of [
    ...['7708004767.0', ' 7708004767.00 ', '7708004767,00', "'7708004767", '="7708004767"'],
    ...['7 708 004 767', '7\u00a0708\u00a0004\u00a0767', '7708\u202f004767,0', '77080\n04767'],
    ...['\u200b7708004767', '7708004767\u200b', '\ufeff7708004767\u200e', '7708’004’767'],
  ]) {
    t.same(keyJudge(text, false)(cell), asNumber, JSON.stringify(cell))
  }
  // Two keys, a reason code behind the key, and digits that a spreadsheet has rounded.
  for (const cell of [
    '7708004767 7712040126',
    '7708004767/770801001',
    '7,70800E+09',
    '7708 00476',
  ]) {
    t.same(keyJudge(text, false)(cell), { kind: 'malformed', withZero: null }, cell)
  }
  t.same(keyJudge({ type: 'string' }, false)(" it's\u00a0so "), {
    ...{ kind: 'key', key: "it's\u00a0so", restored: null },
  })
  t.same(keyJudge(text, false)('7708004767.5'), { kind: 'malformed', withZero: null })
  t.same(keyJudge(text, true)('261012139'), { kind: 'malformed', withZero: null })
  t.same(keyJudge({ ...text, type: 'integer' }, false)(lost), {
    ...{ kind: 'key', key: lost, restored: null },
  })
  t.end()
})
