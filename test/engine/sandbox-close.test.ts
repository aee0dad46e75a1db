import { readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import type { Test } from 'tap'
import { duckDbInspector } from '../../src/engine/duckdb/inspect/inspect.js'
import { duckDbOpener } from '../../src/engine/duckdb/open/open-files.js'
import { duckDbSampler } from '../../src/engine/duckdb/open/read-sample.js'
import { makeForms } from '../../src/engine/duckdb/pack/make-forms.js'
import { formsOf } from '../../src/versions/forms/form.js'
import { formsOrder } from '../../src/versions/forms/forms-order.js'
import type { Version } from '../../src/versions/version.js'
import { writeParquet } from '../support/parquet.js'
import { never, openVersion } from './fixtures/open-engine.js'

// Guarantee: every piece of work closes the DuckDB that it started, also when it fails. An open one
// keeps its memory and threads until the process ends.

const memoryBytes = 256 * 1024 ** 2
const gone = new Error('the caller is gone')

/** Counts the instances and connections that are started from now on and not closed. */
function countOpen(t: Test): { readonly open: Set<object>; started: number } {
  const count = { open: new Set<object>(), started: 0 }
  const add = <T extends object>(opened: T): T => {
    count.started += 1
    count.open.add(opened)
    return opened
  }
  const create = DuckDBInstance.create.bind(DuckDBInstance)
  t.capture(DuckDBInstance, 'create', async (...options: Parameters<typeof create>) =>
    add(await create(...options)),
  )
  const { connect, closeSync } = DuckDBInstance.prototype
  t.capture(DuckDBInstance.prototype, 'connect', async function (this: DuckDBInstance) {
    return add(await connect.call(this))
  })
  t.capture(DuckDBInstance.prototype, 'closeSync', function (this: DuckDBInstance) {
    count.open.delete(this)
    closeSync.call(this)
  })
  const { disconnectSync } = DuckDBConnection.prototype
  t.capture(DuckDBConnection.prototype, 'disconnectSync', function (this: DuckDBConnection) {
    count.open.delete(this)
    disconnectSync.call(this)
  })
  return count
}

/** Each piece of work that has a sandbox, on a version whose files can or can't be read. */
const works: Readonly<Record<string, (version: Version, signal: AbortSignal) => Promise<unknown>>> =
  {
    'opening files': ({ files }) =>
      duckDbOpener(memoryBytes)(
        files.map(({ path }) => path),
        ['id'],
      ),
    'a sample': (version) =>
      duckDbSampler(memoryBytes)(version, version.columns, ({ rowOrder }) =>
        rowOrder(version.columns),
      ),
    'a sample whose use fails': (version) =>
      duckDbSampler(memoryBytes)(version, version.columns, () => Promise.reject(gone)).catch(
        (cause: unknown) => {
          if (cause !== gone) throw cause
        },
      ),
    inspecting: (version, signal) => {
      const order = { version, deep: true, countsKeys: true, subset: null }
      return duckDbInspector(memoryBytes)(order, { signal, report: () => {} })
    },
    packing: (version, signal) => {
      // Without the identities by which a changed file is refused before DuckDB starts.
      const files = version.files.map((file) => ({ ...file, guard: null }))
      const whole = { ...version, files }
      const folder = `${files[0]?.path ?? ''}-forms`
      const order = formsOrder(whole, folder, formsOf(whole), memoryBytes)
      return makeForms(order, { signal, report: () => {} })
    },
  }

for (const [name, work] of Object.entries(works)) {
  await t.test(`${name} closes all that it opened`, async (t) => {
    const folder = t.testdir({ temp: {} })
    const temp = join(folder, 'temp')
    const rows = (from: number) =>
      `SELECT i AS id, md5(i::VARCHAR) AS text FROM range(${from}, ${from + 5000}) t(i)`
    await writeParquet(join(folder, 'data'), { 'a[1].parquet': rows(0), 'b.parquet': rows(5000) })
    const version = await openVersion(folder, { entry: '    key: id\n' })
    const usual = process.env['TMPDIR']
    process.env['TMPDIR'] = temp
    t.teardown(() => {
      if (usual === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = usual
    })
    const count = countOpen(t)
    await work(version, never)
    t.ok(count.started > 2, 'it has opened an instance and connections')
    t.equal(count.open.size, 0)
    for (const { path } of version.files) truncateSync(path, 20_000)
    const startedBefore = count.started
    await t.rejects(work(version, never), { message: /./ })
    t.ok(count.started > startedBefore, 'also the work that failed')
    t.equal(count.open.size, 0, 'after a failure')
    t.same(readdirSync(temp), [], 'temp folders are removed')
  })
}

await t.test('an instance whose settings are refused is closed', async (t) => {
  const count = countOpen(t)
  const { run } = DuckDBConnection.prototype
  t.capture(DuckDBConnection.prototype, 'run', function (this: DuckDBConnection, sql: string) {
    return sql.includes('allowed_directories') ? Promise.reject(gone) : run.call(this, sql)
  })
  await t.rejects(duckDbOpener(memoryBytes)(['/a.parquet'], []), { message: gone.message })
  t.equal(count.started, 2)
  t.equal(count.open.size, 0)
})
