import { setTimeout as sleep } from 'node:timers/promises'
import type { Run } from '../harness/script.js'
import type { Server } from '../harness/server.js'
import { das, serve } from '../harness/fixture.js'
import type { ServeOptions } from '../harness/fixture.js'
import { eventually } from '../harness/wait.js'
import type { FaultsFixture } from './faults-fixture.js'
import type { Watchers } from './watchers.js'

/** What not every machine has: the right to mount file systems, or Debian's package faketime. */
export type Need = 'mount' | 'faketime'

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

const logMsMax = 120_000

/** Keeps the whole log of a server for a few seconds under load. */
export const wholeLog = { outputMax: 50_000_000 } as const

/** Where a fault strikes. */
export class Site {
  readonly fixture: FaultsFixture
  readonly run: Run
  readonly #options: ServeOptions
  #server: Server
  #watchers: Watchers | null = null
  readonly #notes: string[] = []

  constructor(fixture: FaultsFixture, server: Server, options: ServeOptions, run: Run) {
    this.fixture = fixture
    this.run = run
    this.#options = options
    this.#server = server
  }

  get server(): Server {
    return this.#server
  }

  get pid(): string {
    return String(this.#server.child.pid)
  }

  /** The environment of the server. */
  get env(): NodeJS.ProcessEnv {
    return this.#options.env ?? {}
  }

  /** What a fault wants to be read beside its row. */
  get notes(): readonly string[] {
    return this.#notes
  }

  note(words: string): void {
    this.#notes.push(words)
  }

  watchedBy(watchers: Watchers): void {
    this.#watchers = watchers
  }

  wait(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.run.cleanup.signal })
  }

  /** Starts the next server; the clients move to it. */
  async start(): Promise<void> {
    this.#server = await serve(this.fixture, this.run.cleanup, this.#options)
    this.#watchers?.moveTo(this.#server.base)
  }

  /** Ends the server, and starts the next one. */
  async restart(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.#server.end(signal)
    await this.start()
  }
}

/**
 * Tries to start a server, and notes why it does not.
 * @throws Error when it starts
 */
export async function startRefused(site: Site, over: string): Promise<void> {
  const { fixture, run } = site
  const refusal = await serve(fixture, run.cleanup).then(
    () => null,
    (cause: unknown) => String(cause).trimEnd().split('\n').at(-1) ?? '',
  )
  if (refusal === null) throw new Error(`the server starts over ${over}`)
  site.note(refusal.replaceAll(fixture.folder, '…'))
}

/**
 * Runs a command of the product over the site's folder.
 * @throws Error when it fails
 */
export async function dasOf(
  { fixture }: Site,
  argv: readonly string[],
  settings: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { code, stdout, stderr } = await das(fixture, argv, settings)
  if (code !== 0) throw new Error(`das ${argv.join(' ')}: ${stderr}`)
  return stdout
}

/**
 * Waits for words in the log, which `wholeLog` keeps.
 * @throws Fault when they do not come
 */
export async function untilLogged({ server }: Site, words: string): Promise<void> {
  const find = () => Promise.resolve(server.output().includes(words) || undefined)
  await eventually(`the log says "${words}"`, { withinMs: logMsMax }, find)
}
