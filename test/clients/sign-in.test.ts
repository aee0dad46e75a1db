import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { listConnections } from '../../src/control/connections/connections.js'
import { recordOf } from '../../src/registry/shape.js'
import { cliOver } from '../cli/fixtures/cli-fixture.js'
import { Walk } from '../support/mcp/mcp-calls.js'
import { startStage } from '../support/mcp/mcp-scenario.js'
import type { Stage } from '../support/mcp/mcp-scenario.js'
import { sendConsent } from '../support/mcp/signing-in.js'
import { demoToken } from '../support/things.js'
import { signingClients } from './fixtures/signing-clients.js'
import type { Session, SigningClient } from './fixtures/signing-clients.js'

const hourSeconds = 3600
const pageRows = 4

/** What `things` holds: five a year. */
const things = [2022, 2023, 2024].flatMap((year) =>
  Array.from({ length: 5 }, (_, index) => ({
    year,
    id: `a${index}`,
    '2110': index,
    note: index % 2 === 0 ? 'even' : null,
  })),
)

/** Somebody with a token. */
class Person {
  visits = 0
  token: string

  constructor(token: string) {
    this.token = token
  }

  /** Opens the page that a program asks for, and connects it; where the browser is sent back. */
  readonly visit = async (url: string): Promise<string> => {
    this.visits += 1
    const page = await fetch(url)
    if (page.status !== 200) throw new Error(`the page: ${page.status} ${await page.text()}`)
    const { status, location } = await sendConsent(url, this.token)
    if (status !== 303 || location === null) throw new Error(`the form: ${status}`)
    return location
  }
}

for (const client of signingClients) {
  await t.test(`${client.name} signs in, and lives through its connections`, async (t) => {
    const stage = await startStage(t)
    const { world, control, url } = stage
    const { token, subscriptionId } = await world.subscribe(['things:pro'])
    const person = new Person(token)
    const { das } = cliOver(world.folder, world.clock)
    const session = await client.open({ url, folder: folderOf(stage), visit: person.visit })
    try {
      t.equal(person.visits, 1)
      await walkOverHour(t, stage, session)
      t.equal(person.visits, 1, 'it refreshes and does not ask its person')
      t.match(await listConnections(control, subscriptionId), [
        { clientName: client.app, endedAt: null },
      ])

      await walkOverEnd(t, stage, session, async () => {
        const revoked = await das(['connection', 'revoke', '--all', subscriptionId])
        t.equal(revoked.code, 0, revoked.stderr)
      })
      t.equal(person.visits, 2, 'after the end of its connection it signs in again')

      await walkOverEnd(t, stage, session, async () => {
        const reissued = await das(['token', 'reissue', subscriptionId, '--grace', '0', '--json'])
        t.equal(reissued.code, 0, reissued.stderr)
        person.token = String(recordOf(JSON.parse(reissued.stdout))['token'])
      })
      t.equal(person.visits, 3, 'and after a reissue of the token')
      await walkOverHour(t, stage, session)
      t.equal(person.visits, 3)
      t.equal((await listConnections(control, subscriptionId)).length, 3)
    } finally {
      await session.close()
    }
  })

  await t.test(`two sessions of ${client.name} refresh at the same moment`, (t) =>
    refreshTogether(t, client),
  )
}

await t.test('an agent signs in with the public demo token', async (t) => {
  const stage = await startStage(t)
  const [client] = signingClients
  if (!client) return
  const { visit } = new Person(demoToken)
  const session = await client.open({ url: stage.url, folder: folderOf(stage), visit })
  const walk = new Walk('things', pageRows)
  await walk.readRest(t, session)
  t.same(
    walk.rows.map(({ id }) => id),
    ['a1', 'a2', 'a1', 'a2', 'a1', 'a2'],
  )
  await session.close()
})

/** Both hold the same refresh token when the hour is over, and each has a walk to go on with. */
async function refreshTogether(t: Test, client: SigningClient): Promise<void> {
  const stage = await startStage(t)
  const { world, control, url } = stage
  const { token, subscriptionId } = await world.subscribe(['things:pro'])
  const person = new Person(token)
  const sessions: Session[] = []
  try {
    const place = { url, folder: folderOf(stage), visit: person.visit }
    while (sessions.length < 2) sessions.push(await client.open(place))
    t.equal(person.visits, 1, 'the second reads what the first has kept')
    const walks = sessions.map((session) => ({ session, walk: new Walk('things', pageRows) }))
    for (const { session, walk } of walks) await walk.readPage(t, session)
    for (const hours of [1, 2]) {
      await passHour(stage, sessions)
      const before = answersOf(stage, '/token').length
      await Promise.all(walks.map(({ session, walk }) => walk.readPage(t, session)))
      const answers = answersOf(stage, '/token').slice(before)
      t.notOk(
        answers.some((status) => status !== 200),
        `${hours} h later`,
      )
      t.ok(answers.length === 2 || (client.sharesSecrets && answers.length === 1))
    }
    await Promise.all(walks.map(({ session, walk }) => walk.readRest(t, session)))
    for (const { walk } of walks) isWhole(t, walk)
    t.equal(person.visits, 1, 'their person is not asked')
    t.match(await listConnections(control, subscriptionId), [{ endedAt: null }])
    t.equal((await listConnections(control, subscriptionId)).length, 1)
  } finally {
    await Promise.all(sessions.map((session) => session.close()))
  }
}

/** The hour ends after the first page; the next one goes on with its cursor. */
async function walkOverHour(t: Test, stage: Stage, session: Session): Promise<void> {
  const walk = new Walk('things', pageRows)
  await walk.readPage(t, session)
  await passHour(stage, [session])
  const before = answersOf(stage, '/token').length
  await walk.readPage(t, session)
  t.same(answersOf(stage, '/token').slice(before), [200], 'it refreshes after the hour')
  await walk.readRest(t, session)
  isWhole(t, walk)
}

/**
 * The connection ends after the first page. The first answer then is a refusal; signed in again, the
 * program goes on with its cursor.
 */
async function walkOverEnd(
  t: Test,
  stage: Stage,
  session: Session,
  end: () => Promise<void>,
): Promise<void> {
  const walk = new Walk('things', pageRows)
  await walk.readPage(t, session)
  await end()
  const before = answersOf(stage, '/mcp').length
  await walk.readRest(t, session)
  t.equal(answersOf(stage, '/mcp')[before], 401, 'an ended connection reads nothing')
  isWhole(t, walk)
}

function isWhole(t: Test, walk: Walk): void {
  t.same(walk.pageRows, [4, 4, 4, 3])
  t.same(walk.rows, things, 'every row once')
}

async function passHour({ world }: Stage, sessions: readonly Session[]): Promise<void> {
  world.clock.ms += hourSeconds * 1000 + 1
  for (const { passTime } of sessions) await passTime?.(hourSeconds + 1)
}

function folderOf({ world }: Stage): string {
  return join(world.folder, 'client')
}

/** The statuses of one path so far. */
function answersOf({ world }: Stage, path: string): readonly unknown[] {
  return world.log
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    .filter(({ msg, url }) => msg === 'request' && url === path)
    .map(({ status }) => status)
}
