import t from 'tap'
import { isInn } from '../../src/columns/tax-number.js'
import { parseRegistry } from '../../src/registry/registry.js'

const rest = 'datasets:\n  a: {title: A, files: a.parquet}\n'
const parse = (portal: string, before = '') =>
  parseRegistry(`${before}portal: ${portal}\n${rest}`, 'registry.yaml')

await t.test('mistakes of the portal have their line, and say what is right', (t) => {
  const mistakes: readonly (readonly [portal: string, message: string])[] = [
    ['{titel: x}', 'portal.titel: unknown key. Did you mean "title"?'],
    ['{color: red}', 'portal.color: must be a colour, quoted: "#2349b8", got "red".'],
    [
      '{color: #8a1f5c\n}',
      'portal.color: must be a colour, quoted: "#2349b8", ' +
        'got nothing: write its value after the colon, or its keys below, indented more.',
    ],
    ['{logo: logo.png}', 'portal.logo: must be the path of an SVG file, got "logo.png".'],
    ['{owners: []}', 'portal.owners: must be a list of e-mail addresses.'],
    ['{owners: [me]}', 'portal.owners.0: must be an e-mail address, got "me".'],
    ['{pages: {imprint: a.md}}', 'portal.pages.imprint: unknown key.'],
    ['{legal: {name: A, address: B}}', 'portal.legal.inn: is missing.'],
    [
      '{legal: {name: A, address: B, inn: "7707083894"}}',
      'portal.legal.inn: must be a valid INN, in quotes, got "7707083894".',
    ],
    [
      '{legal: {name: A, address: B, inn: 7707083893}}',
      'portal.legal.inn: must be a valid INN, in quotes',
    ],
    [
      '{legal: {name: A, address: B, inn: "7707083893", vat: 31}}',
      'portal.legal.vat: must be none or a whole percentage, 0 to 30, got 31.',
    ],
  ]
  for (const [portal, message] of mistakes) {
    t.throws(() => parse(portal), {
      message: new RegExp(`^registry\\.yaml:1:\\d+: ${escaped(message)}`),
    })
  }
  t.end()
})

await t.test('an INN is right when its check digits are, of companies and of people', (t) => {
  for (const inn of ['7708004767', '7707083893', '500100732259']) {
    t.ok(isInn(inn), inn)
    for (let at = 0; at < inn.length; at += 1) {
      const digit = (Number(inn[at]) + 1) % 10
      const wrong = `${inn.slice(0, at)}${digit}${inn.slice(at + 1)}`
      t.notOk(isInn(wrong), wrong)
    }
  }
  for (const zeros of [10, 12]) t.notOk(isInn('0'.repeat(zeros)), 'there is no region 00')
  for (const text of ['', '770800476', '77080047671', ' 7708004767', '77О8004767']) {
    t.notOk(isInn(text), text)
  }
  t.end()
})

await t.test('a colour that is hard to read, and a shop without privacy, are warned of', (t) => {
  const { portalWarnings, warnings } = parse('{color: "#ffcc00"}', 'shop: {free: true}\n')
  t.match(portalWarnings, [
    /^registry\.yaml:2:\d+: portal\.pages: the shop stores e-mail addresses/,
    /^registry\.yaml:2:\d+: portal\.color: has a contrast of 1\.5 with white; texts need 4\.5\./,
  ])
  t.match(warnings, portalWarnings)
  t.same(parse('{color: "#2349b8"}').portalWarnings, [])
  t.same(parse('{color: "#767676"}').portalWarnings, [], 'the lightest grey that is readable')
  t.end()
})

await t.test('files of the portal are named by their place, and missing without contents', (t) => {
  const { portal, portalFiles } = parse('{logo: l.svg, intro: {en: e.md, ru: r.md}}')
  t.same(portalFiles, [
    { path: ['portal', 'logo'], file: 'l.svg' },
    { path: ['portal', 'intro', 'en'], file: 'e.md' },
    { path: ['portal', 'intro', 'ru'], file: 'r.md' },
  ])
  t.match(portal, { logo: null, intro: null, pages: {} })
  t.end()
})

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
