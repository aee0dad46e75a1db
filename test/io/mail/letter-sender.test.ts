import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { allJobs } from '../../../src/control/jobs.js'
import type { Test } from 'tap'
import { eventually } from '../../../scripts/harness/fault.js'
import { buildApp } from '../../../src/app.js'
import { readConfig } from '../../../src/config.js'
import { listLetters, queueLetter } from '../../../src/control/letters.js'
import { keyIn } from '../../../src/control/store/key-file.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import type { ControlStore } from '../../../src/control/store/store.js'
import { extendSubscription } from '../../../src/control/subscription-changes.js'
import { createSubscription } from '../../../src/control/subscriptions.js'
import { LetterSender } from '../../../src/sales/letters/letter-sender.js'
import { sealSecret } from '../../../src/sales/letters/seal.js'
import { startMailServer, startOddServer } from '../../sales/letters/fixtures/mail-server.js'
import { dayMs, minuteMs, openPostOffice } from '../../sales/letters/fixtures/post-office.js'
import { startOfTest, startWorld, writeParquet } from '../../support/world.js'
import { machine } from '../../support/machine.js'
import { machineClock } from '../../../src/clock.js'
import { machineRandom } from '../../../src/random.js'

const registry = `
datasets:
  numbers:
    title: Numbers
    files: numbers.parquet
    plans:
      pro: {rows_per_month: 1000, history: all, price_rub: 0}
`
const files = { 'numbers.parquet': 'SELECT i AS number FROM range(3) t(i)' }
const busy = { refuseGreeting: { status: 421, text: 'busy' } }

/** A service that can be stopped and started again over the same state folder. */
async function openHouse(t: Test, smtpUrl: string) {
  const folder = t.testdir({})
  await writeParquet(folder, files)
  writeFileSync(join(folder, 'registry.yaml'), registry)
  const clock = { ms: startOfTest }
  const log: string[] = []
  const logger = pino(
    { level: 'debug' },
    {
      write: (line: string) => {
        log.push(line)
      },
    },
  )
  const config = readConfig(
    {
      registry: join(folder, 'registry.yaml'),
      state: join(folder, 'var'),
      publicUrl: 'https://data.example.org',
      mailFrom: 'data@example.org',
      smtpUrl,
      memoryLimit: '512MB',
    },
    {},
  )
  /** Starts, lets the first round of mail end, and stops. */
  const serveOnce = async () => {
    const app = await buildApp(config, {
      logger,
      clock: { ...machineClock, now: () => clock.ms },
      random: machineRandom,
      version: '0',
    })
    await app.prepare()
    await app.close()
  }
  const state = join(folder, 'var')
  const withControl = async <T>(work: (store: ControlStore) => Promise<T>): Promise<T> => {
    const store = SqliteStore.open(join(state, 'control.db'), machine)
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  }
  const sell = () =>
    withControl((store) =>
      createSubscription(store, {
        email: 'buyer@example.org',
        grants: [{ dataset: 'numbers', plan: 'pro' }],
        months: 1,
        globalRows: null,
        priceRub: 0,
        language: 'en',
        now: () => clock.ms,
      }),
    )
  return { state, clock, log, serveOnce, withControl, sell }
}

await t.test('a reminder comes once, a week ahead, and again after an extension', async (t) => {
  const server = await startMailServer(t)
  const { clock, serveOnce, withControl, sell, log } = await openHouse(t, server.url)
  const { subscriptionId, expiresAt } = await sell()
  clock.ms = expiresAt - 7 * dayMs - 1
  await serveOnce()
  t.same(server.letters, [])
  clock.ms += 1
  await serveOnce()
  t.equal(server.letters.length, 1)
  const [{ mail, recipients } = { mail: undefined, recipients: [] }] = server.letters
  t.same(recipients, ['buyer@example.org'])
  t.equal(mail?.subject, 'Access to Numbers ends in 7 days')
  t.match(mail?.text, '- Numbers (numbers), plan pro: 1,000 rows a month, the whole history\n')
  clock.ms += dayMs
  await serveOnce()
  t.equal(server.letters.length, 1, 'not again after a restart')
  await withControl((store) =>
    extendSubscription(store, subscriptionId, {
      months: 1,
      priceRub: () => 0,
      now: () => clock.ms,
    }),
  )
  await serveOnce()
  t.equal(server.letters.length, 1, 'not a month ahead')
  clock.ms += 30 * dayMs
  await serveOnce()
  t.equal(server.letters.length, 2)
  const lines = log.filter((line) => line.includes('letter sent'))
  t.match(JSON.parse(lines[0] ?? ''), { letter: 1, kind: 'reminder', subscription: subscriptionId })
  t.notMatch(log.join(''), 'buyer@example.org')
})

// While mail is down a token is nowhere in clear: not on the disk, not in the log.
await t.test('a waiting token is in no file of the state folder and in no log', async (t) => {
  const server = await startMailServer(t, busy)
  const { state, clock, serveOnce, withControl, sell, log } = await openHouse(t, server.url)
  const sold = await sell()
  const queued = await withControl(async (store) => {
    const sealedSecret = sealSecret(
      machineRandom,
      keyIn(join(state, 'mail.key'), machineRandom),
      sold.tokenId,
      sold.token,
    )
    const { subscriptionId, tokenId } = sold
    const letter = { kind: 'new-token', subscriptionId, tokenId, sealedSecret } as const
    await queueLetter(store, letter, clock.ms)
    return { sealedSecret, rows: JSON.stringify(await listLetters(store, ['waiting'])) }
  })
  const bytes = () =>
    Buffer.concat(
      readdirSync(state, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name))),
    )
  await serveOnce()
  t.ok(bytes().includes(queued.sealedSecret))
  t.notOk(bytes().includes(sold.token))
  t.notMatch(queued.rows, sold.token)
  t.match(log.join(''), /"reason":"127\.0\.0\.1:\d+ answered: 421 busy","nextAttempt":"2026-/)
  server.manners.current = {}
  clock.ms += minuteMs
  await serveOnce()
  t.match(server.letters[0]?.mail.text, sold.token)
  t.notMatch(log.join(''), 'das_live_')
  t.same(
    await withControl(async (store) =>
      (await listLetters(store, ['sent'])).map((each) => each.sealedSecret),
    ),
    [null],
  )
})

await t.test('mail without a sender stops the start, as wrong usage', async (t) => {
  const settings = { smtpUrl: 'smtp://127.0.0.1' }
  await t.rejects(startWorld(t, { files, registry, settings }), {
    code: 'bad_request',
    detail: /DAS_MAIL_FROM/,
  })
})

await t.test('a server that sends mail without a public address logs a warning', async (t) => {
  const settings = { smtpUrl: 'smtp://127.0.0.1', mailFrom: 'data@example.org' }
  const { log } = await startWorld(t, { files, registry, settings })
  t.match(
    log.join(''),
    /"address":"http:\/\/127\.0\.0\.1:8080","msg":"links in letters use this address/,
  )
})

await t.test('every result of a letter is logged at a fitting level', async (t) => {
  const { parts, sell, server, clock } = await openPostOffice(t)
  const lines: (readonly [level: string, message: string])[] = []
  const say = (level: string) => (_facts: unknown, message: string) => {
    lines.push([level, message])
  }
  const logger = { info: say('info'), warn: say('warn'), error: say('error') }
  const sender = new LetterSender({
    jobs: allJobs,
    ...parts,
    logger,
  })
  t.teardown(() => sender.close())
  await sell()
  server.manners.current = busy
  await Promise.all([sender.round(), sender.round()])
  clock.ms += minuteMs
  server.manners.current = { refuseLetter: { status: 554, text: 'no' } }
  await sender.round()
  await sell({ months: 2 })
  clock.ms += 70 * dayMs
  await sender.round()
  t.same(lines, [
    ['warn', 'letter not sent yet'],
    ['error', 'letter given up'],
    ['info', 'letter dropped: no longer true'],
  ])
})

await t.test('a fault ends a round, is logged, and the next round sends the letters', async (t) => {
  const { parts, sell, server, clock } = await openPostOffice(t)
  const faults: unknown[] = []
  const ignore = () => undefined
  const error = (facts: unknown) => {
    faults.push(facts)
  }
  const logger = { info: ignore, warn: ignore, error }
  let isBroken = true
  const registryOf = () => {
    if (isBroken) throw new Error('a bug')
    return parts.registry()
  }
  const sender = new LetterSender({
    jobs: allJobs,
    ...parts,
    registry: registryOf,
    logger,
  })
  t.teardown(() => sender.close())
  await sell()
  await sender.round()
  t.match(faults, [{ err: { message: 'a bug' } }])
  isBroken = false
  clock.ms += 2 * minuteMs
  await sender.round()
  t.equal(server.letters.length, 1)
})

await t.test(
  'a letter that a command queues is sent in seconds, not at the next minute',
  async (t) => {
    const { parts, sell, server } = await openPostOffice(t)
    const ignore = () => undefined
    const logger = { info: ignore, warn: ignore, error: ignore }
    const sender = new LetterSender({
      jobs: allJobs,
      ...parts,
      logger,
    })
    t.teardown(() => sender.close())
    sender.start()
    await sender.round()
    await sell()
    await eventually('the letter', { withinMs: 45_000 }, async () => server.letters[0])
  },
)

await t.test('no letter is started after a stop', async (t) => {
  const { parts, sell, server, letters } = await openPostOffice(t)
  const ignore = () => undefined
  const sender = new LetterSender({
    jobs: allJobs,
    ...parts,
    logger: { info: ignore, warn: ignore, error: ignore },
  })
  await sell()
  await sell()
  sender.start()
  await sender.close()
  t.equal(server.letters.length, 1, 'the one under way is finished')
  t.equal((await letters()).filter(({ state }) => state === 'waiting').length, 1)
  sender.start()
  await sender.round()
  t.equal(server.letters.length, 1)
})

await t.test('an app stops even if the mail server hangs', async (t) => {
  const port = await startOddServer(t, () => undefined)
  const { clock, serveOnce, withControl, sell } = await openHouse(t, `smtp://127.0.0.1:${port}`)
  clock.ms = (await sell()).expiresAt - dayMs
  await serveOnce()
  t.match(await withControl((store) => listLetters(store, ['waiting'])), [
    { attempts: 1, lastError: /Message sending aborted$/ },
  ])
})
