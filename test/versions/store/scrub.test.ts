import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { hashFile } from '../../../src/versions/hash-file.js'
import { FileChecks } from '../../../src/versions/store/file-checks.js'
import { Scrub } from '../../../src/versions/store/scrub.js'
import { MovingClock } from '../../support/moving-clock.js'

const hourMs = 3_600_000

await t.test('while no file can be found, none is looked for again and again', async (t) => {
  const folder = t.testdir({ mount: { a: 'a', b: 'b' } })
  const clock = new MovingClock(0)
  const checks = new FileChecks(hashFile, clock)
  const files = await Promise.all(
    ['a', 'b'].map(async (name) => {
      const path = join(folder, 'mount', name)
      return { path, guard: null, hash: await hashFile(path), name }
    }),
  )
  t.ok(await checks.verifyAll(files))
  rmSync(join(folder, 'mount'), { recursive: true })
  writeFileSync(join(folder, 'mount'), 'a mount that is lost')
  const looks = { count: 0 }
  const look = () => {
    looks.count += 1
    return files
  }
  const scrub = new Scrub({ clock, checks, files: look, days: 30 })
  t.teardown(() => scrub.close())
  scrub.start()
  for (let rounds = 0; rounds < 3; rounds += 1) {
    while (clock.waiting === 0) await setImmediate()
    const before = looks.count
    await clock.advance(1)
    t.equal(looks.count, before, 'it waits')
    await clock.advance(hourMs)
    t.ok(looks.count > before, 'and looks again')
  }
})
