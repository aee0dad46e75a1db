import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import t from 'tap'
import { compared } from '../changes/fixtures/copies.js'
import { listen } from '../support/answers.js'
import { logged } from '../support/logged.js'
import { startWorld, writeParquet } from '../support/world.js'

// Guarantee: the script of docs/updating-data.md keeps a copy equal to an export, whatever changes
// and whenever it is killed.

const refreshes = 20
const killedAt = 9

const registry = `
datasets:
  firms:
    title: Firms
    files: data/a.parquet
    key: [inn, year]
    history: year
    allow_breaking: true
    allow_shrinking: true
    shrink_max: 100%
    plans:
      two: {rows_per_month: 1000000, history: 2, price_rub: 10, rate_per_minute: 100000}
`
/** Rows come, change and go with the round; every seventh round the years move. */
function rowsOf(round: number) {
  const newest = 2020 + Math.floor(round / 7)
  const extra = round > 12 ? `, i % 3 + ${round} AS extra` : ''
  return {
    'data/a.parquet': `SELECT 'я' || (i % 40) AS inn, CAST(${newest} - i // 40 AS INTEGER) AS year,
      (i * ${round}) % 23 AS v, 0.1 * (i + ${round} // 5) AS price${extra}
      FROM range(160) t(i) WHERE (i + ${round}) % 9 > 1 ORDER BY hash(i + ${round})`,
  }
}

await t.test('a copy is equal to an export through refreshes and a kill', async (t) => {
  const world = await startWorld(t, { files: rowsOf(0), registry })
  const { token } = await world.subscribe(['firms:two'])
  const server = `http://127.0.0.1:${await listen(world)}`
  const page = readFileSync(join('docs', 'updating-data.md'), 'utf8')
  const [, script = ''] = /```python\n(import json.*?)```/s.exec(page) ?? []
  const path = join(world.folder, 'keep-copy.py')
  writeFileSync(path, script)
  const env = { ...process.env, DAS_SERVER: server, DAS_TOKEN: token }
  const call = [path, 'firms', 'inn,year', 'year', 'v=gt.1&limit=5'] as const
  const options = { cwd: world.folder, env }
  const exportCall = call.map((each) => each.replace('&limit=5', ''))
  await promisify(execFile)('python3', exportCall, options)
  for (let round = 1; round <= refreshes; round += 1) {
    await writeParquet(world.folder, rowsOf(round))
    await world.app.reload(true)
    await compared(world, 'firms', token)
    if (round === killedAt) {
      const asked = world.log.filter((line) => line.includes('/changes')).length
      const killed = spawn('python3', call, options)
      await logged(world, '/changes', asked + 1)
      killed.kill('SIGKILL')
      await once(killed, 'close')
    }
    if (round % 3 !== 1) await promisify(execFile)('python3', call, options)
    else continue
    const database = new Database(join(world.folder, 'firms.db'), { readonly: true })
    const held = database.prepare('SELECT row FROM copy').pluck().all() as string[]
    database.close()
    const { text } = await world.get('/v1/firms/export?v=gt.1', token)
    const rows = text.split('\n').filter((line) => line !== '' && !line.startsWith('{"cursor":'))
    const plain = (lines: readonly string[]) =>
      lines
        .map((line) =>
          Object.entries(JSON.parse(line) as object).filter(([, cell]) => cell !== null),
        )
        .map((cells) => JSON.stringify(cells.sort()))
        .sort()
    t.same(plain(held), plain(rows), `refresh ${round}`)
    t.ok(rows.length > 20)
  }
})
