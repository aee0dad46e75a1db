import { lstatSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readRegistryText, writeRegistry } from '../../src/registry/write-registry.js'
import { machineRandom } from '../../src/random.js'

await t.test('a registry is replaced whole and keeps its permissions', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'registry.yaml')
  writeFileSync(path, '\ufeffdatasets: {}\r\n', { mode: 0o640 })
  const read = await readRegistryText(path)
  t.equal(read.text, '\ufeffdatasets: {}\r\n')
  await writeRegistry(read, `${read.text}# more`, machineRandom)
  t.equal(readFileSync(path, 'utf8'), '\ufeffdatasets: {}\r\n# more')
  t.equal(statSync(path).mode & 0o777, 0o640)
  t.same(readdirSync(folder), ['registry.yaml'])
})

await t.test('a missing registry is created', async (t) => {
  const path = join(t.testdir({}), 'registry.yaml')
  await writeRegistry(await readRegistryText(path), 'datasets: {}\n', machineRandom)
  t.equal(readFileSync(path, 'utf8'), 'datasets: {}\n')
})

await t.test('a symbolic link still leads to the registry', async (t) => {
  const folder = t.testdir({
    real: { 'page.yaml': 'old' },
    'registry.yaml': t.fixture('symlink', 'real/page.yaml'),
  })
  const path = join(folder, 'registry.yaml')
  await writeRegistry(await readRegistryText(path), 'new', machineRandom)
  t.ok(lstatSync(path).isSymbolicLink())
  t.equal(readFileSync(join(folder, 'real', 'page.yaml'), 'utf8'), 'new')
  t.same(readdirSync(join(folder, 'real')), ['page.yaml'])
})

await t.test('a registry that another process changed in the meantime is left alone', async (t) => {
  const folder = t.testdir({ 'registry.yaml': 'old' })
  const path = join(folder, 'registry.yaml')
  const read = await readRegistryText(path)
  writeFileSync(path, 'theirs')
  await t.rejects(
    writeRegistry(read, 'mine', machineRandom),
    /registry\.yaml has changed; nothing was written/,
  )
  t.equal(readFileSync(path, 'utf8'), 'theirs')
  const fresh = await readRegistryText(join(folder, 'other.yaml'))
  symlinkSync('registry.yaml', join(folder, 'other.yaml'))
  await t.rejects(
    writeRegistry(fresh, 'mine', machineRandom),
    /other\.yaml has changed; nothing was written/,
  )
  t.same(readdirSync(folder), ['other.yaml', 'registry.yaml'])
})

await t.test('a registry in another encoding is rejected', async (t) => {
  const path = join(t.testdir({}), 'registry.yaml')
  writeFileSync(path, Buffer.from([0x64, 0xff, 0x3a]))
  await t.rejects(readRegistryText(path), /registry\.yaml is not UTF-8/)
})
