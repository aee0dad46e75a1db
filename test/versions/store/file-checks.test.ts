import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { identityOf } from '../../../src/versions/files/find-files.js'
import { findSourceFiles } from '../../../src/versions/files/source-files.js'
import { hashFile } from '../../../src/versions/hash-file.js'
import { FileChecks } from '../../../src/versions/store/file-checks.js'
import type { CheckedFile, Verdict } from '../../../src/versions/store/file-checks.js'
import { age, rot } from '../../support/damage.js'
import { writeParquet } from '../../support/parquet.js'
import { machineClock } from '../../../src/clock.js'

// Guarantee: no file counts as verified before its content was read, nor after anything but this
// process did something to it.

/** A source file linked into a folder, and checks that count the files that they read. */
async function linkedFile(t: Test) {
  const folder = t.testdir({ stored: {}, more: {} })
  await writeParquet(folder, { 'a.parquet': 'SELECT i, md5(i::VARCHAR) AS x FROM range(900) r(i)' })
  const source = join(folder, 'a.parquet')
  age(source)
  const reads = { count: 0 }
  const hash = (path: string) => {
    reads.count += 1
    return hashFile(path)
  }
  const checks = new FileChecks(hash, machineClock)
  const losses: Verdict[] = []
  checks.onFailure((_, verdict) => losses.push(verdict))
  const [found] = await findSourceFiles(folder, ['a.parquet'], new Map(), { hash })
  if (!found) throw new Error('no source')
  const path = join(folder, 'stored/0.parquet')
  checks.link(found, path)
  const file: CheckedFile = { path, guard: found.identity, hash: found.contentHash }
  return { folder, source, found, file, checks, reads, losses }
}

await t.test('a file that was hashed and then linked is read once', async (t) => {
  const { folder, found, file, checks, reads } = await linkedFile(t)
  t.ok(checks.isVerified(file) && checks.isUntouched(file))
  checks.link(found, join(folder, 'more/0.parquet'))
  t.ok(checks.isUntouched(file), 'a further link of our own')
  await checks.unlinkFiles(join(folder, 'more'))
  t.ok(checks.isUntouched(file), 'which is removed again')
  t.equal(reads.count, 1)
})

await t.test('a new process counts no file as verified before it has read it', async (t) => {
  const { file, losses } = await linkedFile(t)
  const checks = new FileChecks(hashFile, machineClock)
  t.notOk(checks.isVerified(file) || checks.isUntouched(file))
  t.same(await Promise.all([checks.verify(file), checks.verify(file)]), ['intact', 'intact'])
  t.ok(checks.isVerified(file) && checks.isUntouched(file))
  t.same(losses, [])
})

await t.test('a change of a file by another process is detected and reported', async (t) => {
  const { source, file, checks, losses, reads } = await linkedFile(t)
  const { atime, mtime } = statSync(source)
  chmodSync(source, 0o640)
  t.notOk(checks.isUntouched(file), 'by its ctime')
  t.equal(await checks.verify(file), 'intact')
  utimesSync(source, 5, 5)
  t.equal(await checks.verify(file), 'intact', 'a touch')
  t.ok(checks.isUntouched(file))
  utimesSync(source, atime, mtime)
  t.equal(await checks.recheck(file), 'intact')
  const { count } = reads
  t.equal(await checks.recheck(file), 'intact')
  t.equal(reads.count, count, 'read a moment ago, and untouched since')
  t.same(losses, [])
  rot(source, 0.5)
  t.notOk(checks.isUntouched(file))
  t.equal(await checks.verify(file), 'damaged')
  t.notOk(checks.isVerified(file))
  writeFileSync(source, readFileSync(source))
  t.equal(await checks.verify(file), 'replaced')
  rmSync(file.path)
  t.equal(await checks.verify(file), 'gone')
  t.same(losses, ['damaged', 'replaced', 'gone'])
})

await t.test('a file found damaged under one name is not verified under another', async (t) => {
  const { folder, source, found, file, checks } = await linkedFile(t)
  const other = { ...file, path: join(folder, 'more/0.parquet') }
  checks.link(found, other.path)
  t.ok(checks.isVerified(other))
  rot(source, 0.5)
  await checks.verify(file)
  t.notOk(checks.isVerified(other))
})

await t.test('the files of a renamed folder stay verified', async (t) => {
  const { folder, file, checks } = await linkedFile(t)
  mkdirSync(join(folder, 'other'))
  checks.move(join(folder, 'stored'), join(folder, 'other'))
  t.notOk(checks.isVerified(file))
  t.ok(checks.isVerified({ ...file, path: join(folder, 'other/0.parquet') }))
})

await t.test('a file that can not be read now is neither intact nor lost', async (t) => {
  const { file, source } = await linkedFile(t)
  const losses: Verdict[] = []
  const checks = new FileChecks(async (path) => {
    utimesSync(source, statSync(source).atimeMs / 1000 + 1, 7)
    return hashFile(path)
  }, machineClock)
  checks.onFailure((_, verdict) => losses.push(verdict))
  t.equal(await checks.verify(file), 'unsettled', 'something is done to it all the time')
  t.notOk(checks.isVerified(file))
  t.same(losses, [])
  t.not(identityOf(statSync(source, { bigint: true })), file.guard)
})
