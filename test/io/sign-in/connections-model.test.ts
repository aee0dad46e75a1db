import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import {
  accessLifeMs,
  raceMs,
  redeemCode,
  refreshLifeMs,
  refreshSecrets,
} from '../../../src/control/connections/exchange-secrets.js'
import type { Exchange } from '../../../src/control/connections/exchange-secrets.js'
import { endConnection } from '../../../src/control/connections/end-connection.js'
import { codeLifeMs, makeConnection } from '../../../src/control/connections/make-connection.js'
import {
  removeConnections,
  waitingLifeMs,
} from '../../../src/control/connections/remove-connections.js'
import { findSecret, liveUntil } from '../../../src/control/connections/secret-lookup.js'
import { sql } from '../../../src/control/store/sql.js'
import type { ControlStore } from '../../../src/control/store/store.js'
import { createSubscription } from '../../../src/control/subscriptions.js'
import { hashToken } from '../../../src/control/tokens/token-format.js'
import { newestLiveToken, reissueToken, revokeToken } from '../../../src/control/tokens/tokens.js'
import { openRecordsOf } from '../../support/database.js'

// Guarantee: in whatever order agents are connected, exchange, refresh, repeat themselves, lose
// answers, and are ended, a dead connection opens nothing, and a live one is never stranded.

const everydayRuns = 100
const { DAS_MODEL_RUNS, DAS_MODEL_SEED } = process.env
const runs = Number(DAS_MODEL_RUNS ?? everydayRuns)
const seed = Number(DAS_MODEL_SEED ?? (DAS_MODEL_RUNS ? Date.now() % 2 ** 31 : 20261123))

const minuteMs = 60_000
const clientId = 'client'
const codeChallenge = 'c'.repeat(43)

type Step =
  | {
      readonly kind:
        'paste' | 'connect by code' | 'reissue' | 'keep' | 'revoke token' | 'clean' | 'crash'
    }
  | { readonly kind: 'redeem' | 'disconnect'; readonly at: number }
  /** `isLost`: the server commits, and the agent never sees the answer. */
  | {
      readonly kind: 'refresh'
      readonly at: number
      readonly nth: number
      readonly isLost: boolean
    }
  | { readonly kind: 'wait'; readonly ms: number }

/** Of the agents; few, so that much happens to each. */
const at = fc.nat({ max: 2 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom<Step>({ kind: 'paste' }, { kind: 'connect by code' }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('redeem' as const), at }) },
  {
    weight: 16,
    arbitrary: fc.record({
      kind: fc.constant('refresh' as const),
      at,
      nth: fc.nat({ max: 3 }),
      isLost: fc.nat({ max: 3 }).map((n) => n === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('disconnect' as const), at }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(
        1,
        minuteMs,
        raceMs,
        raceMs + 1,
        waitingLifeMs + 1,
        accessLifeMs,
        refreshLifeMs / 2,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ kind: 'reissue' }, { kind: 'keep' }) },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ kind: 'clean' }, { kind: 'crash' }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'revoke token' } as const) },
)

/** A refresh token as the model knows it. */
interface Renewal {
  readonly text: string
  readonly parent: Renewal | null
  readonly endsAt: number
  usedAt: number | null
  isFollowed: boolean
}

interface Agent {
  readonly connectionId: string
  readonly code: string
  readonly madeAt: number
  isRedeemed: boolean
  isEnded: boolean
  /** When the token that it was made with ends. */
  tokenEndsAt: number
  readonly renewals: Renewal[]
  readonly accesses: { readonly text: string; readonly endsAt: number }[]
}

const begin = Date.UTC(2026, 10, 15)

type Sold = Awaited<ReturnType<typeof createSubscription>>

/** One life: the product over a file of its own, and beside it the model. */
class Life {
  readonly #path: string
  readonly #note: (event: string) => void
  readonly #subscriptionId: string
  readonly #agents: Agent[] = []
  #store: ControlStore
  #token: string
  #now = begin

  private constructor(
    path: string,
    note: (event: string) => void,
    store: ControlStore,
    sold: Sold,
  ) {
    this.#path = path
    this.#note = note
    this.#store = store
    this.#subscriptionId = sold.subscriptionId
    this.#token = sold.tokenId
  }

  static async begin(path: string, note: (event: string) => void): Promise<Life> {
    const store = openRecordsOf(path)
    const sold = await createSubscription(store, {
      email: 'a@b.example',
      grants: [{ dataset: 'd', plan: 'p' }],
      months: 24,
      globalRows: null,
      priceRub: 0,
      language: 'en',
      now: () => begin,
    })
    return new Life(path, note, store, sold)
  }

  async live(step: Step): Promise<void> {
    switch (step.kind) {
      case 'paste':
        return await this.#connect({ tokenId: this.#token })
      case 'connect by code':
        return await this.#connectByCode()
      case 'redeem':
        return await this.#redeem(this.#agentAt(step.at))
      case 'refresh':
        return await this.#refresh(step)
      case 'disconnect':
        return await this.#disconnect(this.#agentAt(step.at))
      case 'wait':
        this.#now += step.ms
        return
      case 'reissue':
      case 'keep':
        return await this.#reissue(step.kind === 'keep')
      case 'revoke token':
        return await this.#revoke()
      case 'clean':
        return await this.#clean()
      case 'crash':
        await this.#store.close()
        this.#store = openRecordsOf(this.#path)
    }
  }

  /** What every access token opens, against the model. */
  async check(): Promise<void> {
    for (const agent of this.#agents) {
      for (const { text, endsAt } of agent.accesses.slice(-20)) {
        const found = await findSecret(this.#store, hashToken(text))
        const isOpen =
          found !== undefined &&
          found.expiresAt > this.#now &&
          liveUntil(found, this.#terms) !== null
        const isLive = this.#isLive(agent) && endsAt > this.#now
        if (isOpen && !isLive) throw new Error('a dead connection reads rows')
        if (!isOpen && isLive && agent.accesses.length <= 10) {
          throw new Error('a live connection is refused')
        }
      }
    }
  }

  async end(): Promise<void> {
    await this.#store.close()
  }

  get #terms() {
    return { demoHash: null, now: this.#now }
  }

  get #exchange(): Exchange {
    return { store: this.#store, terms: this.#terms, isMailOn: false }
  }

  #agentAt(at: number): Agent | undefined {
    return this.#agents.slice(-3)[at % Math.min(3, Math.max(1, this.#agents.length))]
  }

  #isLive(agent: Agent): boolean {
    return !agent.isEnded && agent.tokenEndsAt > this.#now
  }

  /** Not tied to a token that was shown, but to the newest: it ends like one that was pasted. */
  async #connectByCode(): Promise<void> {
    const tokenId = await newestLiveToken(this.#store, this.#subscriptionId, this.#now)
    if (tokenId !== this.#token) throw new Error('not the newest token')
    await this.#connect({ tokenId, madeBy: 'mail' })
    this.#note('connected by code')
  }

  async #connect(means: { readonly tokenId: string; readonly madeBy?: 'mail' }): Promise<void> {
    const { connectionId, code } = await makeConnection(this.#store, {
      owner: { subscriptionId: this.#subscriptionId, ...means },
      clientId,
      clientName: 'Agent',
      redirectUri: 'https://a.example/',
      codeChallenge,
      now: this.#now,
    })
    this.#agents.push({
      ...{ connectionId, code, madeAt: this.#now, isRedeemed: false, isEnded: false },
      ...{ tokenEndsAt: Infinity, renewals: [], accesses: [] },
    })
  }

  async #redeem(agent: Agent | undefined): Promise<void> {
    if (!agent) return
    const hash = hashToken(agent.code)
    const isKept = (await findSecret(this.#store, hash)) !== undefined
    const pair = await redeemCode(this.#exchange, {
      hash,
      clientId,
      redirectUri: null,
      codeChallenge,
    })
    const isGood = !agent.isRedeemed && this.#isLive(agent) && this.#now < agent.madeAt + codeLifeMs
    if ((pair !== undefined) !== isGood) throw new Error(`a code: expected ${isGood}`)
    if (agent.isRedeemed && isKept) {
      if (!agent.isEnded) this.#note('code used twice')
      agent.isEnded = true
    }
    if (!pair) return
    agent.isRedeemed = true
    this.#note('redeemed')
    this.#take(agent, pair, null)
  }

  #take(agent: Agent, pair: { access: string; refresh: string }, parent: Renewal | null): void {
    agent.accesses.push({ text: pair.access, endsAt: this.#now + accessLifeMs })
    agent.renewals.push({
      ...{ text: pair.refresh, parent, endsAt: this.#now + refreshLifeMs },
      ...{ usedAt: null, isFollowed: false },
    })
  }

  async #refresh({ at, nth, isLost }: Extract<Step, { kind: 'refresh' }>): Promise<void> {
    const agent = this.#agentAt(at)
    // Beyond these, the oldest are dropped: a limit that the unit tests check.
    if (!agent || agent.renewals.length === 0 || agent.renewals.length >= 10) return
    const renewal = agent.renewals[nth % agent.renewals.length]
    if (!renewal) return
    const pair = await refreshSecrets(this.#exchange, { hash: hashToken(renewal.text), clientId })
    const { usedAt } = renewal
    const isUsable = this.#isLive(agent) && renewal.endsAt > this.#now
    const isRace = usedAt === null || !renewal.isFollowed || this.#now - usedAt <= raceMs
    if ((pair !== undefined) !== (isUsable && isRace)) {
      throw new Error(`a refresh: expected ${isUsable && isRace}`)
    }
    if (isUsable && !isRace) {
      agent.isEnded = true
      this.#note('replay ended')
    }
    if (!pair) return
    this.#note(usedAt === null ? 'refreshed' : 'refreshed again')
    if (usedAt === null) {
      renewal.usedAt = this.#now
      if (renewal.parent) renewal.parent.isFollowed = true
    }
    if (isLost) this.#note('answer lost')
    else this.#take(agent, pair, renewal)
  }

  async #disconnect(agent: Agent | undefined): Promise<void> {
    const id = agent?.connectionId ?? ''
    const isKept =
      (await this.#store.all(sql`SELECT 1 FROM connections WHERE id = ${id}`)).length > 0
    if (!agent || !isKept) return
    await endConnection(this.#store, agent.connectionId, { reason: 'disconnected', now: this.#now })
    agent.isEnded = true
    this.#note('disconnected')
  }

  async #reissue(keepsConnections: boolean): Promise<void> {
    const options = { graceMs: minuteMs, now: () => this.#now, keepsConnections }
    const { tokenId } = await reissueToken(this.#store, this.#subscriptionId, options)
    this.#token = tokenId
    for (const agent of this.#agents) {
      if (!this.#isLive(agent)) continue
      const end = keepsConnections ? Infinity : Math.min(agent.tokenEndsAt, this.#now + minuteMs)
      agent.tokenEndsAt = end
    }
    this.#note(keepsConnections ? 'kept' : 'reissued')
  }

  async #revoke(): Promise<void> {
    await revokeToken(this.#store, this.#token, () => this.#now)
    const revoked = this.#token
    for (const agent of this.#agents) {
      const [row] = await this.#store.all<{ tokenId: string }>(
        sql`SELECT token_id AS "tokenId" FROM connections WHERE id = ${agent.connectionId}`,
      )
      if (row?.tokenId === revoked) agent.isEnded = true
    }
    const now = () => this.#now
    this.#token = (
      await reissueToken(this.#store, this.#subscriptionId, { graceMs: 0, now })
    ).tokenId
    for (const agent of this.#agents) agent.tokenEndsAt = Math.min(agent.tokenEndsAt, this.#now)
    this.#note('token revoked')
  }

  async #clean(): Promise<void> {
    await removeConnections(this.#store, this.#now)
    for (const agent of this.#agents) {
      const isWaiting = !agent.isRedeemed && this.#now - agent.madeAt > waitingLifeMs
      if (isWaiting) this.#note('waiting one removed')
    }
  }
}

await t.test('connections live as the model says, step by step', async (t) => {
  const folder = t.testdir()
  const seen = new Map<string, number>()
  const note = (event: string) => seen.set(event, (seen.get(event) ?? 0) + 1)
  let run = 0
  const result = await fc.check(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }),
      async (steps) => {
        const life = await Life.begin(join(folder, `${run++}`), note)
        try {
          for (const each of steps) {
            await life.live(each)
            await life.check()
          }
        } finally {
          await life.end()
        }
      },
    ),
    { numRuns: runs, seed },
  )
  if (result.failed) {
    t.fail('a life was other than the model says', {
      report: fc.defaultReportMessage(result)?.split('\n'),
    })
    throw result.errorInstance
  }
  t.comment(`${runs} runs, seed ${seed}`, Object.fromEntries([...seen].sort()))
  const events = ['redeemed', 'code used twice', 'refreshed', 'refreshed again', 'replay ended']
  const others = [
    'answer lost',
    'connected by code',
    'disconnected',
    'kept',
    'reissued',
    'token revoked',
    'waiting one removed',
  ]
  t.same(
    [...events, ...others].filter((event) => runs >= everydayRuns && !seen.has(event)),
    [],
    'each of these happened',
  )
})
