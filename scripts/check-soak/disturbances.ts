import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { writeYear, years } from '../check-reload/reload-fixture.js'
import type { ReloadFixture } from '../check-reload/reload-fixture.js'
import { das } from '../harness/fixture.js'
import type { Sold } from '../harness/fixture.js'

/** What happens beside the requests. */
export interface Disturbances {
  readonly counts: { readonly refreshes: number; readonly reissues: number }
  /** Rejects when one of them fails. */
  readonly failed: Promise<never>
  /** Ends them; resolves when the last one is done. */
  readonly stop: () => Promise<void>
}

const everyMs = 15_000
const Reissued = Type.Object({ token: Type.String() })

/** Replaces a file and reissues a token in turn; `tokens` holds those of the buyers, in order. */
export function startDisturbances(
  fixture: ReloadFixture,
  buyers: readonly Sold[],
  tokens: string[],
): Disturbances {
  const counts = { refreshes: 0, reissues: 0 }
  const stopping = new AbortController()
  const { signal } = stopping
  const refresh = async () => {
    const year = years[counts.refreshes % years.length] ?? years[0]
    counts.refreshes += 1
    await writeYear(fixture, year, counts.refreshes)
  }
  const reissue = async () => {
    const at = counts.reissues % buyers.length
    const argv = ['token', 'reissue', buyers[at]?.subscription ?? '', '--grace', '1h', '--json']
    const { code, stdout, stderr } = await das(fixture, argv)
    if (code !== 0) throw new Error(`das token reissue failed: ${stderr}`)
    tokens[at] = Value.Parse(Reissued, JSON.parse(stdout)).token
    counts.reissues += 1
  }
  const work = async () => {
    for (;;) {
      await sleep(everyMs, undefined, { signal })
      await refresh()
      await reissue()
    }
  }
  const working = work()
  const failed = working.catch((cause: unknown) => {
    // A stop is not a failure: then this never settles.
    if (signal.aborted) return new Promise<never>(() => undefined)
    throw cause
  })
  failed.catch(() => undefined)
  const stop = async () => {
    stopping.abort()
    await working.catch(() => undefined)
  }
  return { counts, failed, stop }
}
