import { Fault } from '../harness/fault.js'
import { startBucket } from '../harness/object-gateway.js'
import { toggle, whole } from '../harness/options.js'
import type { Run } from '../harness/script.js'
import { startServing } from './parts/serving.js'
import { openWriter } from './parts/tables.js'
import {
  brokenLine,
  changesByRename,
  changesInPlace,
  packedAndKilled,
  serverStart,
  withoutLinks,
} from './reload/phases.js'
import { makeReloadFixture } from './reload/reload-fixture.js'
import { outcomesText } from './reload/run-phase.js'
import type { Outcome } from './reload/run-phase.js'
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
  secondsMax: whole('start nothing new after so many seconds', 1800, 1, 86_400),
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

/** Runs the phases in their order; `outcomes` gets each that held. */
async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  const startedMs = performance.now()
  const hasTime = () => performance.now() - startedMs < given.secondsMax * 1000
  using writer = await openWriter()
  const bucket = given.objects ? await startBucket(run.cleanup) : null
  const fixture = await makeReloadFixture(run, { writer, uid: null, bucket })
  let lastNumber = 0
  const nextNumber = () => ++lastNumber
  const context = { fixture, options: given, run, nextNumber, hasTime }
  const serving = await startServing(fixture, run.cleanup, serverStart)
  const phases: readonly (() => Promise<Outcome>)[] = [
    () => changesByRename(context, serving, false),
    () => changesByRename(context, serving, true),
    ...(bucket
      ? [() => brokenLine(context, serving, bucket)]
      : [() => changesInPlace(context, serving), () => withoutLinks(context)]),
    () => packedAndKilled(context, serving),
  ]
  const outcomes: Outcome[] = []
  try {
    for (const phase of phases) {
      if (hasTime()) outcomes.push(await phase())
      run.log(`${outcomes.length} of ${phases.length} phases hold`)
    }
    const exit = await serving.server().end('SIGTERM')
    if (exit !== 0) throw new Fault(`the server ended: ${exit}, not 0`)
  } catch (cause) {
    if (cause instanceof Fault) run.log(`the server's log ends:\n${serving.server().output()}`)
    throw cause
  } finally {
    run.print(outcomesText(outcomes))
    await serving.server().end('SIGKILL')
  }
  return [['holds', `${outcomes.length} of ${phases.length} phases, and every row is right`]]
}

/** `npm run check:reload`. */
export const reload = scenario({ name: 'reload', about, options, check })
