import { setTimeout as sleep } from 'node:timers/promises'
import { demand, eventually } from '../../harness/fault.js'
import { serve } from '../../harness/fixture.js'
import type { Fixture, ServeOptions, Sold } from '../../harness/fixture.js'
import type { Run } from '../../harness/script.js'
import type { Serving } from '../parts/serving.js'

/** What not every machine has: the right to mount file systems, or Debian's package faketime. */
export type Need = 'mount' | 'faketime'

/** A fixture with a subscription that watches, and another whose rows nobody counts. */
export interface FaultsFixture extends Fixture {
  readonly watcher: Sold
  readonly other: Sold
  /** The path of control.db. */
  readonly database: string
}

/** One thing that breaks, and how it is put right again. */
export interface FaultCase {
  /** As the table names it. */
  readonly name: string
  /** What is broken, in words. */
  readonly about: string
  readonly needs?: Need
  /** A backup is restored, which lacks the charges since it was made: the log has them. */
  readonly restores?: true
  /** How the server is started over the folder; as ever where it is left out. */
  readonly start?: (folder: string, run: Run) => Promise<ServeOptions>
  /** Where the folder of the fixture is made; an ordinary temporary folder unless it says so. */
  readonly mount?: (folder: string, run: Run) => Promise<void>
  /** Breaks it for a while under load. At its end a server runs over the site's folder. */
  readonly strike: (site: Site) => Promise<void>
}

/** Where a fault strikes. */
export interface Site extends Serving {
  readonly fixture: FaultsFixture
  readonly run: Run
  /** What the server was started with. */
  readonly options: ServeOptions
  /** What a fault wants to be read beside its row. */
  readonly notes: string[]
}

const logMsMax = 120_000

/** Keeps the whole log of a server for a few seconds under load. */
export const wholeLog = { outputMax: 50_000_000 } as const

/** Waits, until the script is stopped. */
export function wait({ run }: Site, ms: number): Promise<void> {
  return sleep(ms, undefined, { signal: run.cleanup.signal })
}

/** The number of the server's process. */
export function pidOf({ server }: Site): string {
  return String(server().child.pid)
}

/**
 * Tries to start a server, and notes why it does not.
 * @throws Fault when it starts
 */
export async function startRefused({ fixture, run, notes }: Site, over: string): Promise<void> {
  const refusal = await serve(fixture, run.cleanup).then(
    () => null,
    (cause: unknown) => String(cause).trimEnd().split('\n').at(-1) ?? '',
  )
  demand(refusal !== null, `the server starts over ${over}`)
  notes.push(refusal.replaceAll(fixture.folder, '…'))
}

/**
 * Waits for words in the log, which `wholeLog` keeps.
 * @throws Fault when they do not come
 */
export async function untilLogged({ server }: Site, words: string): Promise<void> {
  const find = () => Promise.resolve(server().output().includes(words) || undefined)
  await eventually(`the log says "${words}"`, { withinMs: logMsMax }, find)
}
