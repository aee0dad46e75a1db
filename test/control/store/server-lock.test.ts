import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ServerLock } from '../../../src/control/store/server-lock.js'

/** Runs `work` in a file system of its own, so small that one file fills it; false where none can be. */
function withFullDisk(work: (folder: string) => void): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'das-full-'))
  try {
    execFileSync('/usr/bin/env', ['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], {
      stdio: 'ignore',
    })
  } catch {
    rmdirSync(folder)
    return false
  }
  try {
    writeFileSync(join(folder, 'fill'), Buffer.alloc(64 * 1024))
    work(folder)
  } finally {
    execFileSync('/usr/bin/env', ['umount', folder])
    rmdirSync(folder)
  }
  return true
}

await t.test('one server at a time holds a state folder', (t) => {
  const path = join(t.testdir({}), 'state', 'server.lock')
  const first = ServerLock.take(path)
  t.throws(() => ServerLock.take(path), { message: /another server uses/ })
  first.release()
  const second = ServerLock.take(path)
  second.release()
  t.end()
})

await t.test('what is not a lock of another server is not reported as one', (t) => {
  const path = join(t.testdir({}), 'server.lock')
  writeFileSync(path, 'no lock, but more than a few letters long '.repeat(100))
  t.throws(() => ServerLock.take(path), { code: 'SQLITE_NOTADB' })
  t.end()
})

await t.test('a full disk is not another server', (t) => {
  const isTried = withFullDisk((folder) => {
    t.throws(() => ServerLock.take(join(folder, 'server.lock')), { code: 'SQLITE_FULL' })
  })
  if (!isTried) t.comment('no file system of its own can be mounted here')
  t.end()
})
