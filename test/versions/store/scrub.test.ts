import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { hashFile } from '../../../src/versions/hash-file.js'
import { FileChecks } from '../../../src/versions/store/file-checks.js'
import { Scrub } from '../../../src/versions/store/scrub.js'
import { machineClock } from '../../../src/clock.js'

await t.test('while no file can be found, none is looked for again and again', async (t) => {
  const folder = t.testdir({ mount: { a: 'a', b: 'b' } })
  const checks = new FileChecks(hashFile, machineClock)
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
  const scrub = new Scrub({ clock: machineClock, checks, files: look, days: 30 })
  t.teardown(() => scrub.close())
  scrub.start()
  await sleep(200)
  t.ok(looks.count > 0 && looks.count < 10, `${looks.count} looks in a fifth of a second`)
})
