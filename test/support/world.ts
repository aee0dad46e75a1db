import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import { pino } from 'pino'
import type { Test } from 'tap'
import { buildApp } from '../../src/app.js'
import type { App } from '../../src/app.js'
import { readConfig } from '../../src/config.js'
import { createSubscription } from '../../src/control/subscriptions.js'
import type { NewSubscription } from '../../src/control/subscriptions.js'
import { controlSetting, makeRecords, openRecordsOf } from './database.js'
import { openedOnce } from './opened-once.js'
import { writeParquet } from './parquet.js'
import { registryOf, requireTables } from './tables.js'
import type { StoredOrder } from './tables.js'
import type { HostOptions } from '../../src/sales/public-host.js'
import { machineRandom } from '../../src/random.js'
import { makeForms } from '../../src/engine/duckdb/pack/make-forms.js'
import { hashFile } from '../../src/versions/hash-file.js'
import { MovingClock } from './moving-clock.js'
import { testFolder } from './folder.js'

export { writeParquet }

export interface WorldOptions {
  /** File path relative to the world's folder → the SELECT whose rows it holds. */
  readonly files: Readonly<Record<string, string>>
  /** The text of registry.yaml. */
  readonly registry: string
  /** Of a dataset whose registry key is not unique, or not the order of its rows. */
  readonly storedOrder?: StoredOrder
  /** A folder that the test has filled itself; a new one when left out. */
  readonly at?: string
  readonly settings?: Readonly<Record<string, string>>
  /** Where the portal's script and style were built to; left out = its pages have none. */
  readonly portalFolder?: string
  /** How receivers of webhooks are found; left out = public addresses only. */
  readonly receivers?: HostOptions
  /**
   * Only the test moves the time of timers and deadlines. Without it the machine's time passes for
   * them: a file that is written settles by itself.
   */
  readonly isTimeStill?: boolean
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  /** The body parsed; empty where it is no JSON. Digit-only keys lose their order here. */
  readonly body: Body
}

/** What answers hold; a test asserts which of it is there. */
interface Body {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly next_cursor: string | null
  readonly error: string
  readonly detail: string
  readonly [key: string]: unknown
}

export interface World {
  readonly folder: string
  readonly app: App
  /** The time that the app sees; tests set it, or let it pass. */
  readonly clock: MovingClock
  /** Every log line so far. */
  readonly log: string[]
  readonly get: (url: string, token?: string, options?: InjectOptions) => Promise<Answer>
  readonly post: (url: string, token: string, body: unknown) => Promise<Answer>
  /** Sells a subscription as the command line does, over a connection of its own. */
  readonly subscribe: (
    grants: readonly string[],
    options?: { months?: number; globalRows?: number | null },
  ) => Promise<NewSubscription>
}

export const startOfTest = Date.UTC(2026, 10, 15, 12)

/**
 * The real stack over files of the test's own: DuckDB or Trino (`tables.ts`), SQLite or PostgreSQL
 * (`database.ts`), HTTP by injection, a set clock.
 */
export async function startWorld(t: Test, options: WorldOptions): Promise<World> {
  const folder = options.at ?? testFolder(t)
  await writeParquet(folder, options.files)
  requireTables(options.settings?.['registry'])
  const registry = await registryOf(folder, options.registry, options.storedOrder ?? {})
  writeFileSync(join(folder, 'registry.yaml'), registry)
  const clock = new MovingClock(startOfTest, { flows: options.isTimeStill !== true })
  const log: string[] = []
  const settings = {
    registry: join(folder, 'registry.yaml'),
    state: join(folder, 'var'),
    ...options.settings,
  }
  await makeRecords(settings.state)
  const config = readConfig({ ...settings, ...controlSetting(settings.state) }, {})
  const logger = pino(
    { level: 'debug' },
    {
      write: (line: string) => {
        log.push(line)
      },
    },
  )
  const { portalFolder, receivers } = options
  const app = await buildApp(config, {
    logger,
    clock,
    random: machineRandom,
    version: '0.0.0-test',
    openFiles: openedOnce,
    hashFile,
    // A process of its own gives way to all others: beside them it would take minutes.
    makeForms,
    ...(portalFolder !== undefined && { portalFolder }),
    ...(receivers !== undefined && { receivers }),
  })
  const control = openRecordsOf(settings.state)
  t.teardown(async () => {
    await Promise.all([control.close(), app.close()])
  })
  const inject = async (request: InjectOptions): Promise<Answer> => {
    const { statusCode, headers, body } = await app.server.inject(request)
    return { status: statusCode, headers, text: body, body: parseBody(body) }
  }
  const bearer = (token: string | undefined) =>
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  return {
    folder,
    app,
    clock,
    log,
    get: (url, token, extra = {}) =>
      inject({ url, ...extra, headers: { ...bearer(token), ...extra.headers } }),
    post: (url, token, body) =>
      inject({
        method: 'POST',
        url,
        headers: { ...bearer(token), 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    subscribe: (grants, { months = 1, globalRows = null } = {}) =>
      createSubscription(control, {
        email: 'subscriber@example.org',
        grants: grants.map((grant) => {
          const [dataset = '', plan = ''] = grant.split(':')
          return { dataset, plan }
        }),
        months,
        globalRows,
        priceRub: 0,
        language: 'en',
        now: () => clock.ms,
      }),
  }
}

function parseBody(text: string): Body {
  try {
    return JSON.parse(text) as Body
  } catch {
    return {} as Body
  }
}
