import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readKey } from '../../src/control/key-file.js'

await t.test('a key is made once, for its owner alone, and kept', (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'a.key')
  const key = readKey(path)
  t.equal(key.length, 32)
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.same(readKey(path), key)
  t.same(readFileSync(path), key)
  t.same(readdirSync(folder), ['a.key'])
  t.notSame(readKey(join(folder, 'b.key')), key)
  t.end()
})

await t.test('a file that is no key is told, without its path, and left alone', (t) => {
  const path = join(t.testdir({}), 'a.key')
  writeFileSync(path, 'short')
  t.throws(() => readKey(path), {
    message: 'a.key in the state folder is damaged; remove it to start with a new one',
  })
  t.equal(readFileSync(path, 'utf8'), 'short')
  t.end()
})
