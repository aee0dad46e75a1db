import { readFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { das as command, makeFixture, serve, subscribe } from '../harness/fixture.js'
import { unlimited, writeRegistry } from '../harness/fixture.js'
import type { Fixture } from '../harness/fixture.js'
import { eventually, Fault } from '../harness/fault.js'
import { sizeText } from '../../src/cli/print.js'
import { getOnce } from '../harness/http.js'
import { freePort, memoryOf } from '../harness/process.js'
import type { Server } from '../harness/process.js'
import type { Run } from '../harness/script.js'
import { sum } from '../harness/statistics.js'
import type { Das } from './field.js'
import type { Facts } from './data.js'

/** The first start over new files reads every byte of them. */
const startMsMax = 3_600_000
const settleMsMax = 600_000
const settleEveryMs = 3000
/** Of each `settleEveryMs`: timers and the watcher's checks. */
const settledMs = 150

/**
 * The built product over the files twice, as dropped and packed, started as a user starts it: with
 * its defaults, charging every row.
 */
export async function startDas(folder: string, facts: Facts, run: Run) {
  const fixture = await makeFixture(join(folder, 'das'))
  const { seconds, hasLookups } = await pack(fixture, facts)
  const asking = await subscribe(fixture, ['dropped:bench', 'packed:bench'])
  const beside = await subscribe(fixture, ['dropped:bench', 'packed:bench'])
  const metrics = await freePort()
  const start = async () => {
    const argv = ['--metrics-port', String(metrics)]
    const server = await serve(fixture, run.cleanup, { argv, outputMax: 4000, startMsMax })
    await eventually('das is ready', { withinMs: startMsMax, everyMs: 10 }, async () =>
      (await getOnce(server.base, '/readyz'))?.status === 200 ? true : undefined,
    )
    return server
  }
  let server = await start()
  await untilSettled(server)
  const metric = async (name: string) => {
    const reply = await getOnce(`http://127.0.0.1:${metrics}`, '/metrics')
    const value = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(reply?.text ?? '')?.[1]
    if (value === undefined) throw new Fault(`no metric ${name}`)
    return Number(value)
  }
  const das: Das = {
    base: () => server.base,
    tokens: [asking.token, beside.token],
    restart: async () => {
      await server.stop()
      server = await start()
    },
    memory: () => memoryOf(server.child),
    syncs: async () => ({
      count: await metric('das_charge_sync_seconds_count'),
      seconds: await metric('das_charge_sync_seconds_sum'),
    }),
    stallMs: async () => (await metric('das_event_loop_delay_max_seconds')) * 1000,
  }
  const made = await madeBytes(join(fixture.folder, 'state', 'versions', 'packed'), facts)
  const words = [
    `packed in ${seconds.toFixed(0)} s`,
    `${sizeText(made)} more (${(made / facts.sizeBytes).toFixed(2)} × the files)`,
    ...(hasLookups ? [] : ['this build has no `lookups`']),
  ]
  return { das, facts: [['das', words.join(', ')]] as [string, string][] }
}

/** Writes the registry and packs; the second column is looked up by where the build has that. */
async function pack(fixture: Fixture, { folder: source }: Facts) {
  const entry = {
    ...{ title: 'Statements', files: `${source}/*.parquet`, key: ['inn', 'year'], history: 'year' },
    ...{ require_filter: false, limit: { default: 1000, max: 10_000 }, pack: 'off' },
    columns: { name: { search: true } },
    plans: { bench: unlimited },
    timeout_seconds: 60,
  }
  const packWith = async (more: object) => {
    const packed = { ...entry, ...more }
    await writeRegistry(fixture.folder, { dropped: entry, packed })
    const startedMs = performance.now()
    await command(fixture, ['dataset', 'pack', 'packed'])
    return { seconds: (performance.now() - startedMs) / 1000, hasLookups: 'lookups' in packed }
  }
  return packWith({ lookups: ['okpo'] }).catch((cause: unknown) => {
    if (cause instanceof Fault && cause.message.includes('lookups')) return packWith({})
    throw cause
  })
}

/** What a folder holds beside the dropped files, which are linked or copied there. */
async function madeBytes(folder: string, { files }: Facts): Promise<number> {
  const sizeOf = async (path: string) => (await stat(path)).size
  const dropped = await Promise.all(files.map(sizeOf))
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((each) => each.isFile())
  const sizes = await Promise.all(
    paths.map(({ parentPath, name }) => sizeOf(join(parentPath, name))),
  )
  return sum(sizes.filter((size) => !dropped.includes(size)))
}

/**
 * Waits until a server does nothing more by itself: after its start it makes guides for agents,
 * which no request pays for.
 */
async function untilSettled({ child }: Server): Promise<void> {
  const endMs = performance.now() + settleMsMax
  for (let before = -Infinity; performance.now() < endMs; await sleep(settleEveryMs)) {
    const now = busyMs(child.pid)
    if (now - before < settledMs) return
    before = now
  }
}

/** How long a process has kept a core busy so far. */
function busyMs(pid: number | undefined): number {
  // After the name, which may hold anything, in ticks of 10 ms: proc_pid_stat(5).
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const fields = after.split(' ').map(Number)
  return ((fields[11] ?? 0) + (fields[12] ?? 0)) * 10
}
