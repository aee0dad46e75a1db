import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { Hasher } from '../../src/app/hashing.js'

await t.test('a file is hashed on another thread; one that is not there is an error', async (t) => {
  const path = join(t.testdir(), 'file')
  writeFileSync(path, 'content')
  const hasher = new Hasher()
  t.teardown(() => hasher.close())
  t.equal(await hasher.hash(path), createHash('sha256').update('content').digest('hex'))
  await t.rejects(hasher.hash(`${path}s`), { code: 'ENOENT' })
})

await t.test('the thread keeps a process alive only while a hash is awaited', async (t) => {
  const module = new URL('../../src/app/hashing.js', import.meta.url)
  const program = `import { Hasher } from '${module.href}'
console.log((await new Hasher().hash(process.execPath)).length)`
  const path = join(t.testdir(), 'program.mjs')
  writeFileSync(path, program)
  const { stdout } = await promisify(execFile)(process.execPath, [path], { timeout: 20_000 })
  t.equal(stdout, '64\n')
})
