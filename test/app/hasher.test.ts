import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { Hasher } from '../../src/app/hasher.js'

await t.test('a file is hashed on another thread; a missing file is an error', async (t) => {
  const path = join(t.testdir(), 'file')
  writeFileSync(path, 'content')
  const hasher = new Hasher()
  t.teardown(() => hasher.close())
  t.equal(await hasher.hash(path), createHash('sha256').update('content').digest('hex'))
  await t.rejects(hasher.hash(`${path}s`), { code: 'ENOENT' })
})

await t.test('the thread keeps a process alive only while a hash is awaited', async (t) => {
  const output = await run(t, 'console.log((await new Hasher().hash(process.execPath)).length)')
  t.equal(output, '64\n')
})

await t.test(
  'a process waits for its hashing thread, also when a hash arrives during the close',
  async (t) => {
    const program = `const hasher = new Hasher()
await hasher.hash(import.meta.filename)
const hash = hasher.hash(import.meta.filename).catch(() => undefined)
for (const start = performance.now(); performance.now() - start < 100; );
await hasher.close()
await hash
console.log('closed')`
    t.equal(await run(t, program), 'closed\n')
  },
)

/** What a program that imports `Hasher` prints. */
async function run(t: Test, program: string): Promise<string> {
  const module = new URL('../../src/app/hasher.js', import.meta.url)
  const path = join(t.testdir(), 'program.mjs')
  writeFileSync(path, `import { Hasher } from '${module.href}'\n${program}`)
  const { stdout } = await promisify(execFile)(process.execPath, [path], { timeout: 20_000 })
  return stdout
}
