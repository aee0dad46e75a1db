import { copyFileSync, readdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { buildApp } from '../../src/app.js'
import { readConfig } from '../../src/config.js'
import { startWorld } from '../support/world.js'
import { machine } from '../support/machine.js'
import { MovingClock } from '../support/moving-clock.js'

const registry = 'datasets: {a: {title: A, files: data/a.parquet}}'
const files = { 'data/a.parquet': 'SELECT 1 AS id' }

/** The files of a folder that this process holds open. */
function openFiles(folder: string): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${name}`)
      return path.startsWith(folder) ? [path] : []
    } catch {
      // The descriptor that listed the folder is closed by now.
      return []
    }
  })
}

// Guarantee: a start that fails leaves nothing behind that the next one trips over.
await t.test('a start that fails half-way closes all that it opened', async (t) => {
  const world = await startWorld(t, { files, registry })
  await world.app.close()
  const state = join(world.folder, 'var')
  const config = readConfig({ registry: join(world.folder, 'registry.yaml'), state }, {})
  const parts = { logger: pino({ level: 'silent' }), ...machine, version: '0' }
  const key = join(state, 'cursor.key')
  writeFileSync(key, 'damaged')
  // The world itself holds one connection, to sell over.
  const before = openFiles(state).length
  await t.rejects(buildApp(config, parts), {
    message: /^cursor\.key in the state folder is damaged/,
  })
  t.equal(openFiles(state).length, before)
  writeFileSync(key, Buffer.alloc(32))
  const app = await buildApp(config, parts)
  await app.close()
  await app.close()
})

// Guarantee: nothing that happens while datasets are opened calls a part that is not there yet.
await t.test('a sound control.db put in place during a start is taken after it', async (t) => {
  const world = await startWorld(t, { files, registry })
  await world.app.close()
  const state = join(world.folder, 'var')
  const config = readConfig({ registry: join(world.folder, 'registry.yaml'), state }, {})
  const clock = new MovingClock(0)
  const path = join(state, 'control.db')
  const lines: string[] = []
  const write = (line: string) => {
    lines.push(line)
  }
  const logger = pino({ level: 'warn' }, { write })
  const ticks = (count: number) => {
    for (let done = 0; done < count; done += 1) clock.runNext(1000)
  }
  const app = await buildApp(config, {
    ...{ logger, random: machine.random, version: '0', clock },
    onOpened: () => {
      copyFileSync(path, `${path}.copy`)
      renameSync(`${path}.copy`, path)
      ticks(10)
    },
  })
  t.teardown(() => app.close())
  await clock.advance(5000)
  t.match(lines.join(''), 'control.db was removed or replaced')
  t.match(lines.join(''), 'the new control.db is sound and in use')
  t.equal((await app.server.inject('/healthz')).statusCode, 200)
})
