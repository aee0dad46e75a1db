import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { InjectOptions } from 'fastify'
import { pino } from 'pino'
import { buildApp } from '../../src/app.js'
import type { App, AppParts } from '../../src/app.js'
import { openObjects } from '../../src/app/open-objects.js'
import { inspectorFor, openReader } from '../../src/app/reading.js'
import { openerFor, openerForTables } from '../../src/app/reading.js'
import { importHere, samplerFor } from '../../src/app/sampling.js'
import { runCli } from '../../src/cli/program.js'
import { readConfig } from '../../src/config.js'
import { makeForms } from '../../src/engine/duckdb/pack/make-forms.js'
import { BookReader } from './books.js'
import type { Books } from './books.js'
import type { Kill, Machine } from './machine/machine.js'
import type { Post } from './post.js'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

/** What a command printed. */
export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface HouseParts {
  readonly machine: Machine
  readonly post: Post
  /** Holds the registry, the data and the state. */
  readonly folder: string
}

/** The secret of the payment system's webhooks. */
export const paymentSecret = `whsec_${Buffer.from('a secret of simulated payments').toString('base64')}`

const memoryLimit = '256MB'

/** The service in its folder: one process after another, ended by a stop or by a kill. */
export class House {
  readonly #parts: HouseParts
  readonly #books: BookReader
  #app: App | null = null
  /** What the service logged as an error. */
  readonly errors: string[] = []

  constructor(parts: HouseParts) {
    this.#parts = parts
    this.#books = new BookReader(this.state)
  }

  /** What control.db says now. */
  books(): Books {
    return this.#parts.machine.aside(() => this.#books.read())
  }

  get folder(): string {
    return this.#parts.folder
  }

  get state(): string {
    return join(this.folder, 'var')
  }

  /** Starts a process, which may be killed before this step. @throws Killed */
  async open(kill: Kill | null = null): Promise<void> {
    const { machine, folder, post } = this.#parts
    machine.revive()
    machine.killAt(kill)
    const config = readConfig(
      {
        registry: join(folder, 'registry.yaml'),
        state: this.state,
        memoryLimit,
        smtpUrl: 'smtp://127.0.0.1:1',
        mailFrom: 'data@example.org',
        publicUrl: 'https://data.example.org',
        paymentSecret,
      },
      {},
    )
    const parts: AppParts = {
      logger: this.#logger(),
      clock: machine.clock,
      random: machine.secrets,
      version: '0.0.0-simulated',
      mailer: post.mailer(machine),
      makeForms,
    }
    const app = await machine.outcome(buildApp(config, parts))
    void app.prepare()
    this.#app = app
    await machine.pass(0)
  }

  /** Stops the process as an operator does. */
  async close(): Promise<void> {
    const { machine } = this.#parts
    this.#closeBooks()
    if (this.#app) await machine.outcome(this.#app.close())
    await machine.bury(() => () => undefined)
    this.#app = null
  }

  /** Ends the killed process; its databases stay as they were at the kill. */
  async bury(): Promise<void> {
    this.#closeBooks()
    const kept = join(this.#parts.folder, 'kept')
    await this.#parts.machine.bury(() => {
      copyFiles(this.state, kept)
      return () => copyFiles(kept, this.state)
    })
    this.#app = null
  }

  /** Ends the process, whatever it does; its folder is not used again. */
  async abandon(): Promise<void> {
    this.#closeBooks()
    await this.#parts.machine.bury(() => () => undefined)
    this.#app = null
  }

  /** Sends a request without a socket. @throws Killed */
  async ask(request: InjectOptions): Promise<Answer> {
    return await this.#parts.machine.outcome(this.send(request))
  }

  /** Begins a request; the machine has to run to its end. */
  async send(request: InjectOptions): Promise<Answer> {
    if (!this.#app) throw new Error('the service does not run')
    const { statusCode, headers, body } = await this.#app.server.inject(request)
    return { status: statusCode, headers, text: body, body: jsonOf(body) }
  }

  /** Applies changed files now. @throws Killed */
  async reload(): Promise<void> {
    if (this.#app) await this.#parts.machine.outcome(this.#app.reload())
  }

  /** Runs a command beside the service. @throws Killed */
  async das(argv: readonly string[]): Promise<Outcome> {
    const { machine, folder } = this.#parts
    const [stdout, stderr] = [captured(), captured()]
    const run = runCli(argv, {
      version: '0.0.0-simulated',
      environment: {
        DAS_REGISTRY: join(folder, 'registry.yaml'),
        DAS_STATE: this.state,
        DAS_MEMORY_LIMIT: memoryLimit,
      },
      pid: 1,
      stdin: Object.assign(Readable.from(['']), { isTTY: false }),
      stdout,
      stderr,
      user: 'owner',
      clock: machine.clock,
      random: machine.secrets,
      buildApp,
      openFiles: openerFor,
      withSample: samplerFor,
      inspectFiles: inspectorFor,
      openReader,
      openTable: openerForTables,
      openObjects,
      makeForms,
      importTable: importHere,
      untilInterrupted: (work) => work(new AbortController().signal),
      untilStopped: () => Promise.resolve(),
    })
    const code = await machine.outcome(run)
    return { code, stdout: stdout.text(), stderr: stderr.text() }
  }

  #closeBooks(): void {
    this.#parts.machine.aside(() => {
      this.#books.close()
    })
  }

  #logger() {
    const write = (line: string) => {
      const { level, msg, err } = JSON.parse(line) as Readonly<Record<string, unknown>>
      if (Number(level) >= 50) this.errors.push(`${String(msg)} ${JSON.stringify(err ?? null)}`)
    }
    return pino({ level: 'warn' }, { write })
  }
}

/** Copies the files of a folder that another process may have open: databases, logs and locks. */
function copyFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  const files = (folder: string) =>
    readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile())
  for (const { name } of files(to)) rmSync(join(to, name))
  for (const { name } of files(from)) cpSync(join(from, name), join(to, name))
}

function captured() {
  const texts: string[] = []
  const write = (text: string, done?: () => void) => {
    texts.push(text)
    done?.()
  }
  return { write, text: () => texts.join('') }
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}
