import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { runScript } from './harness/script.js'
import { Numbers } from './check-reload/changes.js'
import { buildHouse, launcher } from './check-reload/reload-fixture.js'
import type { House } from './check-reload/reload-fixture.js'
import { help, readOptions } from './check-reload/reload-options.js'
import type { Options } from './check-reload/reload-options.js'
import { openWriter } from './check-reload/parquet.js'
import {
  changesByRename,
  changesInPlace,
  packedAndKilled,
  withoutLinks,
} from './check-reload/phases.js'
import { tableText } from './check-reload/phase-table.js'
import type { Outcome } from './check-reload/phase-table.js'
import { Fault } from './check-reload/rows.js'
import { startServer } from './check-reload/server.js'
import type { Scene } from './check-reload/run-phase.js'

/** Runs the phases in their order; `told` hears of each that held. */
async function check(scene: Scene, told: (outcome: Outcome) => void): Promise<void> {
  const numbers = new Numbers()
  let server = await startServer(scene.house, scene.signal)
  try {
    told(await changesByRename(scene, server, numbers, false))
    told(await changesByRename(scene, server, numbers, true))
    if (scene.hasTime()) told(await changesInPlace(scene, server, numbers))
    if (scene.hasTime()) told(await withoutLinks(scene, numbers))
    if (scene.hasTime()) {
      const last = await packedAndKilled(scene, server, numbers)
      server = last.server
      told(last.outcome)
    }
    const how = await server.end('SIGTERM')
    if (how !== 0) throw new Fault(`the server ended with ${how}, not 0`)
  } catch (cause) {
    if (cause instanceof Fault) process.stderr.write(`the server's log ends:\n${server.log()}\n`)
    throw cause
  } finally {
    await server.end('SIGKILL')
  }
}

/** Keeps the folder where something went wrong, and says where it is. */
async function run(options: Options): Promise<void> {
  if (!existsSync(launcher)) throw new Error('dist/das.cjs is missing: npm run build')
  const stopping = new AbortController()
  const onSignal = () => stopping.abort(new Error('stopped'))
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  const beganMs = performance.now()
  const hasTime = () => performance.now() - beganMs < options.secondsMax * 1000
  const writer = await openWriter()
  const house = await buildHouse(writer, null)
  const outcomes: Outcome[] = []
  const told = (outcome: Outcome) => {
    outcomes.push(outcome)
    say(`phase ${outcome.phase} holds: ${outcome.counts.requests} requests`)
  }
  try {
    await check({ house, options, signal: stopping.signal, hasTime, say }, told)
    process.stdout.write(`${tableText(outcomes)}seed ${options.seed}\n`)
    if (!hasTime()) say(`cut short after ${options.secondsMax} s: not everything was tried`)
    await rm(house.folder, { recursive: true, force: true })
  } catch (cause) {
    await end(house, stopping.signal.aborted)
    if (stopping.signal.aborted) throw new Error('stopped', { cause })
    if (!(cause instanceof Fault)) throw cause
    process.exitCode = 1
    if (outcomes.length > 0) process.stdout.write(tableText(outcomes))
    process.stdout.write(`A rule is broken (seed ${options.seed}): ${cause.message}\n`)
  } finally {
    writer.close()
  }
}

async function end({ folder }: House, isStopped: boolean): Promise<void> {
  if (isStopped) await rm(folder, { recursive: true, force: true })
  else say(`the folder is kept: ${folder}`)
}

function say(words: string): void {
  process.stderr.write(`check-reload: ${words}\n`)
}

await runScript('check-reload', async () => {
  const options = readOptions(process.argv.slice(2))
  if (options) await run(options)
  else process.stdout.write(help)
})
