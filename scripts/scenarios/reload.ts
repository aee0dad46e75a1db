import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClients } from '../harness/clients.js'
import { demand, Fault } from '../harness/fault.js'
import { startBucket } from '../harness/object-gateway.js'
import { toggle, whole } from '../harness/options.js'
import { randomOf } from '../harness/random.js'
import { linesText, textTable } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { median } from '../harness/statistics.js'
import { startServing } from './parts/serving.js'
import { openWriter } from './parts/tables.js'
import { Client } from './reload/client.js'
import { makeReloadFixture } from './reload/fixture.js'
import { brokenLine, inPlace, packedAndKilled, renamed, withoutLinks } from './reload/phases.js'
import type { Context, Phase } from './reload/phases.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

const changesMax = 100_000

const options = {
  refreshes: whole('refreshes of phase 1', 100, 1, changesMax),
  edits: whole('registry edits of phase 1', 100, 0, changesMax),
  bad: whole('bad files of phase 1', 20, 0, changesMax),
  objects: toggle('200 objects in a store with the protocol of S3, instead of files'),
  breaks: whole('broken fetches of phase 5', 20, 0, changesMax),
  clients: whole('clients that ask at the same time', 16, 1, 256),
}

const about = `Replaces files, edits the registry and drops bad files under the built server while clients read,
and checks every row of every answer:
  1  refreshes by rename, edits, bad files, half of them with pack: auto: no request may fail
  2  files overwritten in place: right rows, or 503 for a moment; no torn rows
  3  a server that can only read the sources, so that links are refused: copies (root on Linux)
  4  pack: auto switched on, SIGHUP, kill -9: walks continue where they were
  5  the line to the store breaks in the middle of a fetch: no request may fail
Files are replaced one after the other and all at once. Phases 2 and 3 are those of files, 5 is
that of --objects, which needs Go to build a server of objects, once.`

const serverStart = {
  argv: ['--log-level', 'info', '--object-poll-seconds', '1'],
  outputMax: 200_000,
}
/** A short rest, which leaves the server on the same machine time for more than answers. */
const restMs = 20

/** What a phase came to: cells of the table, unless it was left out or not decided; a finding. */
interface Row {
  readonly cells: readonly (string | number)[] | null
  readonly note: string
}

/**
 * Lets clients ask while a phase changes things, then lets them finish what they began. The first
 * fault of any of them ends the phase.
 */
async function runPhase(context: Context, phase: Phase): Promise<Row> {
  const { fixture, given, serving, run } = context
  const startedMs = performance.now()
  const versionsBefore = fixture.things.versions
  const agent = new Agent({ keepAlive: true, maxSockets: given.clients + 1 })
  const tolerance = { mayRefuse: false, mayBeAway: false, ...phase.tolerance }
  const target = { base: serving.base, agent, token: fixture.token }
  const client = new Client(fixture, target, tolerance)
  const { stop, done } = startClients(given.clients, (at) => {
    const random = randomOf(given.seed, at)
    return async () => {
      run.cleanup.signal.throwIfAborted()
      await client.visit(random)
      await sleep(restMs)
    }
  })
  const failed = done.then(() => new Promise<never>(() => undefined))
  try {
    const changing = phase.change(client, context, tolerance)
    const { servedMs, note } = await Promise.race([changing, failed])
    stop()
    await done
    const seconds = (performance.now() - startedMs) / 1000
    const { requests, rows, walks, unavailable, gone, away } = client.counts
    const versions = fixture.things.versions - versionsBefore
    const figures = [requests, rows, walks, versions, servedMs.length, unavailable, gone, away]
    const times = servedMs.length > 0 ? [median(servedMs), Math.max(...servedMs)] : [0, 0]
    const cells = [...figures, ...times, seconds].map((figure) => Math.round(figure))
    return { cells: [phase.name, ...cells], note }
  } catch (cause) {
    stop()
    if (!(cause instanceof Fault)) throw cause
    const excuse = (await phase.excuse?.(client)) ?? null
    if (excuse !== null) return { cells: null, note: `${excuse}, then ${cause.message}` }
    run.log(`the log ends:\n${serving.server().output()}`)
    throw cause
  } finally {
    stop()
    await done.catch(() => undefined)
    agent.destroy()
  }
}

const titles = [
  ...['phase', 'requests', 'rows', 'walks', 'versions', 'refreshes', '503', 'walks again'],
  ...['asked again', 'served after ms', 'at most', 'seconds'],
]

/** Runs the phases in their order. */
async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  using writer = await openWriter()
  const bucket = given.objects ? await startBucket(run.cleanup) : null
  const ofSource = bucket ? [brokenLine(bucket)] : [inPlace(), withoutLinks]
  const phases = [renamed(false), renamed(true), ...ofSource, packedAndKilled]
  let lastNumber = 0
  const nextNumber = () => ++lastNumber
  const start = async (uid: number | null): Promise<Context> => {
    const fixture = await makeReloadFixture(run, { writer, uid, bucket })
    const serving = await startServing(fixture, run.cleanup, serverStart)
    return { given, run, fixture, serving, nextNumber }
  }
  const stop = async ({ serving }: Context) => {
    const exit = await serving.server().end('SIGTERM')
    demand(exit === 0, `the server ended: ${exit}, not 0`)
  }
  const main = await start(null)
  const rows: Row[] = []
  for (const phase of phases) {
    const { uid, leftOut } = phase
    const reason = leftOut?.() ?? null
    const context = uid === undefined || reason !== null ? main : await start(uid)
    const row = reason === null ? await runPhase(context, phase) : { cells: null, note: reason }
    rows.push({ ...row, note: `phase ${phase.name}: ${row.note}` })
    run.log(`${rows.length} of ${phases.length}: ${row.note}`)
    if (context !== main) await stop(context)
  }
  await stop(main)
  const held = rows.flatMap(({ cells }) => (cells ? [cells] : []))
  run.print(textTable(titles, held) + linesText(rows.map(({ note }) => note)))
  return [['holds', `${held.length} of ${phases.length} phases, and every row is right`]]
}

/** `npm run check:reload`. */
export const reload = scenario({ name: 'reload', about, options, check })
