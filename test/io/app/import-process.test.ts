import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { workAside } from '../../../src/app/child-work.js'
import { importAside } from '../../../src/app/import-process.js'
import type { ImportedTable } from '../../../src/versions/tables/import-table.js'
import { draftName } from '../../../src/versions/tables/import-table.js'
import type { TableOrder } from '../../../src/versions/tables/table.js'
import { inline, workbook } from '../../engine/fixtures/workbook.js'
import { readCells } from '../../support/parquet.js'

const program = new URL('../../../src/app/import-worker.js', import.meta.url)

/** Processes that this one has started, by Linux's own account. */
function children(): readonly number[] {
  const path = `/proc/${process.pid}/task/${process.pid}/children`
  return readFileSync(path, 'utf8').split(' ').filter(Boolean).map(Number)
}

function orderOf(folder: string, file: string, content: string | Uint8Array): TableOrder {
  const [path, draft] = [join(folder, file), join(folder, 'draft')]
  writeFileSync(path, content)
  mkdirSync(draft)
  return {
    ...{ path, file, format: file.endsWith('.xlsx') ? 'Excel' : 'CSV', draft },
    ...{ encoding: null, separator: null, sheet: null, hasHeader: null, skipLines: 0 },
    skipLastRows: null,
    empties: [],
    ...{ types: [], memoryLimitBytes: 256_000_000 },
  }
}

const quiet = { signal: new AbortController().signal, report: () => undefined }

await t.test('a separate process imports, reports its progress and ends', async (t) => {
  const folder = t.testdir({})
  const before = children()
  const lines = Array.from({ length: 100_000 }, (_, index) => `${index},item ${index}\n`)
  const order = orderOf(folder, 'a.csv', `id,name\n${lines.join('')}`)
  const seen: number[] = []
  const options = { signal: quiet.signal, report: (rows: number) => seen.push(rows) }
  t.match(await importAside(order, options), { rows: 100_000, headerLine: 1 })
  t.ok(seen.length > 1)
  t.equal(seen.at(-1), 100_000)
  t.equal((await readCells(join(order.draft, draftName))).rows.length, 100_000)
  t.same(children(), before)
})

await t.test('its errors keep their class and what they say', async (t) => {
  const folder = t.testdir({ bad: {}, unknown: {}, gone: {} })
  const bad = orderOf(join(folder, 'bad'), 'a.csv', 'a,b\n1\n')
  await t.rejects(importAside(bad, quiet), {
    name: 'TableError',
    problems: [
      'error: a.csv has 1 bad line, so nothing was written:',
      '  line 2: 1 field instead of 2',
    ],
  })
  const unknown = orderOf(join(folder, 'unknown'), 'a.csv', 'a,b\n1,2\n')
  await t.rejects(importAside({ ...unknown, encoding: 'cp0' }, quiet), {
    name: 'ServiceError',
    code: 'bad_request',
    detail: /"cp0" is not a known encoding/,
  })
  const gone = orderOf(join(folder, 'gone'), 'a.csv', '')
  await t.rejects(importAside({ ...gone, path: join(folder, 'no.csv') }, quiet), /ENOENT/)
})

await t.test('an interrupted import leaves no process and no Parquet', async (t) => {
  const folder = t.testdir({})
  const before = children()
  const order = orderOf(folder, 'a.csv', `id,name\n${'1,x\n'.repeat(1_000_000)}`)
  const stop = new AbortController()
  const reason = new Error('Stopped by SIGINT.')
  const report = () => stop.abort(reason)
  await t.rejects(importAside(order, { signal: stop.signal, report }), reason)
  t.same(children(), before)
  t.notOk(readdirSync(order.draft).includes(draftName))
})

// Guarantee: a file that takes all memory ends the process that reads it, and no other.
await t.test(
  'a file that needs more memory than there is is an error with the reason',
  async (t) => {
    const folder = t.testdir({})
    const before = children()
    const strings = Array.from({ length: 400_000 }, (_, index) => `<si><t>text ${index}</t></si>`)
    const sheets = { One: [inline('A1', 'a'), inline('A2', 'b')] }
    const order = orderOf(folder, 'a.xlsx', workbook({ sheets, strings }))
    t.match(await importAside(order, quiet), { rows: 1 }, 'with the heap that it has')
    const lost = (why: string) => new Error(`lost: ${why}`)
    const small = ['--max-old-space-size=24', '--max-semi-space-size=1']
    const work = workAside<number, ImportedTable>(program, order, quiet, lost, small)
    await t.rejects(work, /^lost: .*(heap|memory)/i)
    t.same(children(), before)
  },
)

await t.test('a gzip file that is made to fill a disk is refused', async (t) => {
  const bomb = gzipSync(Buffer.alloc(1_100_000_000, 'a,b\n'), { level: 9 })
  const order = orderOf(t.testdir({}), 'a.csv.gz', bomb)
  const signal = new AbortController().signal
  await t.rejects(
    importAside(order, { signal, report: () => undefined }),
    /the gzip file unpacks to over 1000000000 bytes; unpack it first/,
  )
})
