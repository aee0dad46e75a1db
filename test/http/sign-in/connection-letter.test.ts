import t from 'tap'
import type { Test } from 'tap'
import { connectionLettersMax } from '../../../src/control/connections/exchange-secrets.js'
import { endAllConnections } from '../../../src/control/connections/end-connection.js'
import { removeConnections } from '../../../src/control/connections/remove-connections.js'
import { listLetters } from '../../../src/control/letters.js'
import type { LetterState } from '../../../src/control/letters.js'
import { cancelSubscription } from '../../../src/control/subscription-changes.js'
import { openControl } from '../../support/control.js'
import { startThings } from '../../support/things.js'
import { codeFor, redeem, refresh, register, secretsOf, signIn } from '../../support/sign-in.js'
import { startShop } from '../../portal/fixtures/shop-world.js'

const dayMs = 24 * 3_600_000
const anyState: readonly LetterState[] = ['waiting', 'sent', 'failed', 'dropped']

/** A server with mail, and a subscription. */
async function startMailed(t: Test) {
  const shop = await startShop(t)
  const { world, store } = shop
  const subscription = await world.subscribe(['things:pro'], { months: 12 })
  const queued = async () =>
    (await listLetters(store, anyState)).filter(({ kind }) => kind === 'connection-made')
  return { ...shop, ...subscription, queued, letters: () => shop.letters('connection-made') }
}

// Guarantee: nobody connects an agent with a token without a letter to the subscription's address.
await t.test('the first exchange of an agent mails its subscriber', async (t) => {
  const { world, token, subscriptionId, letters, queued } = await startMailed(t)
  const clientId = await register(world)
  const code = await codeFor(world, clientId, token)
  t.same(await letters(), [], 'not before the agent takes its secrets')
  const { refresh: renew } = secretsOf(await redeem(world, clientId, code))
  t.match(await queued(), [
    { subscriptionId, connectionId: /^con_/, tokenId: null, sealedSecret: null },
  ])
  const [letter, ...others] = await letters()
  t.same(others, [])
  t.equal(letter?.to, 'subscriber@example.org')
  t.match(
    letter?.text,
    'was connected with a token of your subscription on 15 November 2026, 12:00',
  )
  t.match(letter?.text, 'It calls itself “Agent”; this name is not verified.')
  t.match(letter?.text, 'Access went to agent.example.\n')
  t.match(letter?.text, '    https://data.example.org/account\n')
  t.notMatch(`${letter?.text} ${letter?.html}`, /das_\w+_\w{20}|has ended since/)
  await refresh(world, clientId, renew)
  await redeem(world, clientId, code)
  t.equal((await queued()).length, 1, 'neither a refresh nor a second use makes a letter')
})

await t.test('a name of an agent is text in the letter, never markup', async (t) => {
  const { world, token, letters } = await startMailed(t)
  const redirect = 'https://agent.example/callback'
  const clientId = await register(world, {
    client_name: '<a href="https://evil.example">Claude</a>\u202e',
    redirect_uris: [redirect],
  })
  await signIn(world, clientId, token)
  t.match((await letters())[0]?.html, '&#60;a href=')
  t.notMatch((await letters())[0]?.html, /<a|\u202e/)
})

await t.test('letters about connections are limited for each subscription', async (t) => {
  const { world, token, queued } = await startMailed(t)
  const clientId = await register(world)
  for (let made = 0; made <= connectionLettersMax; made += 1) await signIn(world, clientId, token)
  t.equal((await queued()).length, connectionLettersMax)
  const other = await world.subscribe(['things:free'])
  await signIn(world, clientId, other.token)
  t.equal((await queued()).length, connectionLettersMax + 1)
  world.clock.ms += dayMs
  await signIn(world, clientId, token)
  t.equal((await queued()).length, connectionLettersMax + 2)
})

// Guarantee: who holds a stolen token can't hide a connection by ending it at once.
await t.test('the letter about an ended connection says that it has ended', async (t) => {
  const { world, store, token, subscriptionId, letters, queued } = await startMailed(t)
  await signIn(world, await register(world), token)
  await endAllConnections(store, subscriptionId, { now: world.clock.ms })
  t.match(await letters(), [{ text: /The connection has ended since then\./ }])
  world.clock.ms += 31 * dayMs
  t.ok((await removeConnections(store, world.clock.ms)) > 0)
  t.match(await queued(), [{ connectionId: null }], 'the letter outlives the connection')
  t.same(await letters(), [], 'and is dropped then')
})

await t.test(
  'connections of the demo and of cancelled subscriptions cause no letter',
  async (t) => {
    const { world, store, token, subscriptionId, letters, queued } = await startMailed(t)
    const clientId = await register(world)
    t.match(await signIn(world, clientId, 'das_demo_shop'), { access: /^das_agent_/ })
    t.same(await queued(), [])
    await signIn(world, clientId, token)
    await cancelSubscription(store, subscriptionId, () => world.clock.ms)
    t.same(await letters(), [])
    t.equal((await queued()).length, 1)
  },
)

await t.test('a server without mail queues no letter', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  t.match(await signIn(world, await register(world), token), { access: /^das_agent_/ })
  t.same(await listLetters(openControl(t, world), anyState), [])
})
