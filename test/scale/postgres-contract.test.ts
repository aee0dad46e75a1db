import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startPostgres } from './fixtures/postgres.js'

// Guarantee: what the control store does, it does alike in SQLite and in PostgreSQL.

const folder = fileURLToPath(new URL('../control/', import.meta.url))
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.test\.[jt]s$/.test(name))
  .filter((name) => readFileSync(join(folder, name), 'utf8').includes('openAnyStore'))
  .sort()

await t.test('there are tests for both', async (t) => t.ok(files.length >= 8, files.join(' ')))

const { url } = await startPostgres(t)
for (const file of files) {
  await t.test(`${file} passes with PostgreSQL`, async (t) => {
    const child = spawn(process.execPath, [...process.execArgv, join(folder, file)], {
      env: { ...process.env, DAS_TEST_POSTGRES: url },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const output: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => output.push(part))
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) t.comment(String(Buffer.concat(output)))
    t.equal(code, 0)
  })
}
