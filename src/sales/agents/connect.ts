import { tokenPrincipal } from '../../access/principal.js'
import type { Principal } from '../../access/principal.js'
import { networkOf } from '../../access/rate-limits.js'
import type { Clock } from '../../clock.js'
import { makeConnection } from '../../control/connections/make-connection.js'
import type { AskedConnection, ConnectionOwner } from '../../control/connections/make-connection.js'
import { inOrder } from '../../control/in-order.js'
import { noteUse } from '../../control/mailed-codes/email-codes.js'
import type { ControlStore } from '../../control/store/store.js'
import { liveSubscriptions } from '../../control/subscriber-grants.js'
import type { Subscription } from '../../control/subscriptions.js'
import { hashToken } from '../../control/tokens/token-format.js'
import { findToken } from '../../control/tokens/tokens.js'
import { newestLiveToken } from '../../control/tokens/tokens.js'
import { CodeRefusal } from '../form-refusal.js'
import { requestCode, withCode } from '../codes.js'
import type { CodeParts, TypedCode, Visitor } from '../codes.js'
import { Attempts } from './attempts.js'
import { answerLocation } from './authorize-request.js'
import type { AuthorizeRequest } from './authorize-request.js'

/** What came of a token or a code. */
type Connected =
  | { readonly kind: 'connected'; readonly location: string }
  | { readonly kind: 'too many'; readonly waitSeconds: number }

/** The subscriptions of the address that a code was mailed to; the code stays unused. */
interface SeveralFound {
  readonly kind: 'choose'
  readonly subscriptions: readonly Subscription[]
}

/** The two ways in which a person connects an agent. */
export interface Connect {
  /** Whether codes can be mailed. */
  readonly isMailOn: boolean
  /**
   * Makes a connection for who holds this token.
   * @throws service_unavailable
   */
  readonly connect: (
    request: AuthorizeRequest,
    token: string,
    address: string,
  ) => Promise<Connected | { readonly kind: 'wrong token' }>
  /**
   * Mails a code for this request and returns its id; the same for every address.
   * @throws CodeRefusal, service_unavailable
   */
  readonly mailCode: (request: AuthorizeRequest, visitor: Visitor) => Promise<string>
  /**
   * Makes a connection for the reader of an address's mail, if the code was asked for by the same
   * request. Without a subscription that is the address's found, it takes the only one or asks.
   * @throws CodeRefusal, service_unavailable
   */
  readonly connectByCode: (
    request: AuthorizeRequest,
    typed: TypedCode,
    subscriptionId: string | null,
  ) => Promise<Connected | SeveralFound>
}

interface ConnectParts {
  readonly control: ControlStore
  readonly demoToken: () => string | null
  readonly isMailOn: boolean
  readonly codes: CodeParts
  readonly clock: Clock
}

const minuteMs = 60_000
/** Wrong tokens of one network. */
const wrongTokensMax = 10
/** New connections of one subscription an hour; of one network with the demo token. */
const connectionsPerHour = { subscription: 60, demo: 20 }

/** Both ways, with all counts at zero. */
export function connecting(parts: ConnectParts): Connect {
  const { codes, isMailOn, clock } = parts
  const { monotonicMs } = clock
  const hour = { windowMs: 60 * minuteMs, monotonicMs }
  const connections = {
    demo: new Attempts({ ...hour, max: connectionsPerHour.demo }),
    subscriber: new Attempts({ ...hour, max: connectionsPerHour.subscription }),
  }
  return {
    isMailOn,
    connect: byToken(parts, connections),
    mailCode: (request, visitor) =>
      requestCode(codes, { ...visitor, purpose: 'connect', subject: askedBy(request) }),
    connectByCode: byCode(parts, connections.subscriber),
  }
}

function byToken(
  { control, demoToken, clock }: ConnectParts,
  connections: Readonly<Record<Principal['kind'], Attempts>>,
): Connect['connect'] {
  const { now, monotonicMs } = clock
  const find = (hash: Buffer) => findToken(control, hash)
  const wrong = new Attempts({ max: wrongTokensMax, windowMs: minuteMs, monotonicMs })
  return async (request, text, address) => {
    const network = networkOf(address)
    const wrongWait = wrong.waitSeconds(network)
    if (wrongWait > 0) return { kind: 'too many', waitSeconds: wrongWait }
    // Counted before the answer is known: others ask at the same time.
    wrong.note(network)
    const authentication = { findToken: find, demoToken: demoToken(), now }
    const principal = await tokenPrincipal(text.trim(), authentication).catch((cause: unknown) => {
      wrong.takeBack(network)
      throw cause
    })
    if (!principal) return { kind: 'wrong token' }
    wrong.takeBack(network)
    const key = principal.kind === 'demo' ? network : principal.id
    const waitSeconds = connections[principal.kind].waitSeconds(key)
    if (waitSeconds > 0) return { kind: 'too many', waitSeconds }
    connections[principal.kind].note(key)
    const owner = ownerOf(principal, text.trim())
    const { code } = await makeConnection(control, { owner, ...askedBy(request), now: clock.now() })
    return { kind: 'connected', location: answerLocation(request, { code }) }
  }
}

function ownerOf(principal: Principal, token: string): ConnectionOwner {
  if (principal.kind === 'demo') return { demoHash: hashToken(token) }
  const { id: subscriptionId, tokenId } = principal
  if (tokenId === null) throw new TypeError('the principal of a token has its id')
  return { subscriptionId, tokenId }
}

function byCode({ codes, clock }: ConnectParts, connections: Attempts): Connect['connectByCode'] {
  return (request, typed, wanted) =>
    withCode<Connected | SeveralFound>(
      codes,
      'connect',
      typed,
      async ({ codeId, email, subject }, tx) => {
        if (!isAskedBy(request, subject)) throw new CodeRefusal('code')
        const found = await connectable(tx, email, clock.now())
        const chosen = found.find(({ subscription: { subscriptionId } }) => {
          return wanted === null ? found.length === 1 : subscriptionId === wanted
        })
        if (!chosen) {
          return { kind: 'choose', subscriptions: found.map((each) => each.subscription) }
        }
        const { subscriptionId } = chosen.subscription
        const waitSeconds = connections.waitSeconds(subscriptionId)
        if (waitSeconds > 0) return { kind: 'too many', waitSeconds }
        connections.note(subscriptionId)
        await noteUse(tx, codeId, clock.now())
        const owner = { subscriptionId, tokenId: chosen.tokenId, madeBy: 'mail' } as const
        const { code } = await makeConnection(tx, { owner, ...askedBy(request), now: clock.now() })
        return { kind: 'connected', location: answerLocation(request, { code }) }
      },
    )
}

/** The live subscriptions of an address with a token for a connection to end with. */
async function connectable(control: ControlStore, email: string, now: number) {
  const found = await inOrder(
    await liveSubscriptions(control, email, now),
    async (subscription) => {
      const tokenId = await newestLiveToken(control, subscription.subscriptionId, now)
      return tokenId === undefined ? [] : [{ subscription, tokenId }]
    },
  )
  return found.flat()
}

function askedBy({ client, redirectUri, codeChallenge }: AuthorizeRequest): AskedConnection {
  return { clientId: client.id, clientName: client.name, redirectUri, codeChallenge }
}

/** Whether a code was mailed for this request: a code for one agent must not connect another. */
function isAskedBy(request: AuthorizeRequest, subject: string): boolean {
  // This module wrote the subject.
  const { clientId, redirectUri, codeChallenge } = JSON.parse(subject) as AskedConnection
  return (
    clientId === request.client.id &&
    redirectUri === request.redirectUri &&
    codeChallenge === request.codeChallenge
  )
}
