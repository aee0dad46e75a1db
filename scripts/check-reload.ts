import { openWriter } from './check-reload/parquet.js'
import { tableText } from './check-reload/phase-table.js'
import type { Outcome } from './check-reload/phase-table.js'
import {
  brokenLine,
  changesByRename,
  changesInPlace,
  packedAndKilled,
  serverStart,
  withoutLinks,
} from './check-reload/phases.js'
import { makeReloadFixture } from './check-reload/reload-fixture.js'
import { command } from './check-reload/reload-options.js'
import type { PhaseContext } from './check-reload/run-phase.js'
import { Fault } from './harness/fault.js'
import { requireBuild, serve } from './harness/fixture.js'
import { startBucket } from './harness/object-gateway.js'
import type { Bucket } from './harness/object-gateway.js'
import { runScript } from './harness/script.js'

/** Runs the phases in their order; `onOutcome` gets each that held. */
async function check(
  context: PhaseContext,
  bucket: Bucket | null,
  onOutcome: (outcome: Outcome) => void,
): Promise<void> {
  const { fixture, run, hasTime } = context
  let server = await serve(fixture, run.cleanup, serverStart)
  try {
    onOutcome(await changesByRename(context, server, false))
    onOutcome(await changesByRename(context, server, true))
    if (bucket) {
      if (hasTime()) onOutcome(await brokenLine(context, server, bucket))
    } else {
      if (hasTime()) onOutcome(await changesInPlace(context, server))
      if (hasTime()) onOutcome(await withoutLinks(context))
    }
    if (hasTime()) {
      const last = await packedAndKilled(context, server)
      server = last.server
      onOutcome(last.outcome)
    }
    const exit = await server.end('SIGTERM')
    if (exit !== 0) throw new Fault(`the server ended: ${exit}, not 0`)
  } catch (cause) {
    if (cause instanceof Fault) run.log(`the server's log ends:\n${server.output()}`)
    throw cause
  } finally {
    await server.end('SIGKILL')
  }
}

await runScript(command, async (options, run) => {
  requireBuild()
  const startedMs = performance.now()
  const hasTime = () => performance.now() - startedMs < options.secondsMax * 1000
  using writer = await openWriter()
  const bucket = options.objects ? await startBucket(run.cleanup) : null
  const fixture = await makeReloadFixture(run, { writer, uid: null, bucket })
  const outcomes: Outcome[] = []
  let lastNumber = 0
  const nextNumber = () => ++lastNumber
  const onOutcome = (outcome: Outcome) => {
    outcomes.push(outcome)
    run.log(`phase ${outcome.phase} holds: ${outcome.counts.requests} requests`)
  }
  try {
    await check({ fixture, options, run, nextNumber, hasTime }, bucket, onOutcome)
    run.print(`${tableText(outcomes)}seed ${options.seed}\n`)
    if (!hasTime()) run.log(`stopped after ${options.secondsMax} s: some phases did not run`)
  } catch (cause) {
    if (!(cause instanceof Fault) || run.cleanup.signal.aborted) throw cause
    process.exitCode = 1
    if (outcomes.length > 0) run.print(tableText(outcomes))
    run.print(`A rule is broken (seed ${options.seed}): ${cause.message}\n`)
  }
})
