import t from 'tap'
import { layoutFindings } from '../../../src/cli/check/version-findings.js'
import { findingsOf } from '../fixtures/checked.js'

const entry = '    key: id\n'
const layoutCodes = /^(layout_slow|pack_advised)/

/** The findings of a layout only: code → message. */
async function layoutOf(
  files: Readonly<Record<string, string>>,
  writing: string,
  lines = entry,
): Promise<Readonly<Record<string, string>>> {
  const found = await findingsOf(t, files, { entry: lines, writing })
  return Object.fromEntries(Object.entries(found).filter(([code]) => layoutCodes.test(code)))
}

const rows = { 'a.parquet': 'SELECT (i * 7919) % 120000 AS id FROM range(120000) t(i)' }

await t.test('files in any order are well where the server makes forms', async (t) => {
  t.same(await layoutOf(rows, ''), {})
})

await t.test('with pack: off, look-ups in many rows get the advice', async (t) => {
  const found = await layoutOf(rows, '', `${entry}    pack: off\n`)
  t.same(Object.keys(found), ['pack_advised'])
  t.match(found['pack_advised'], /^look-ups by id read the files; `pack: auto`, or once `das dat/)
})

await t.test('small row groups of many rows are reported', async (t) => {
  const version = { key: [], rows: 100_300, dataset: 'things' }
  const codesOf = (groups: number) => layoutFindings(version, groups, true).map(({ code }) => code)
  t.same(codesOf(50), [])
  t.same(codesOf(59), ['layout_slow'])
  t.same(layoutFindings({ ...version, rows: 90_000 }, 900, true), [], 'a small dataset')
})
