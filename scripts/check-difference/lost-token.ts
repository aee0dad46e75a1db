import { join } from 'node:path'
import { removeCodes } from '../../src/control/mailed-codes/email-codes.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import type { ControlStore } from '../../src/control/store/store.js'
import { createSubscription } from '../../src/control/subscriptions.js'
import type { Fixture } from '../harness/fixture.js'
import { sendWell } from '../harness/http.js'
import type { Target } from '../harness/http.js'
import type { Random } from '../harness/random.js'
import { measureRounds } from './rounds.js'
import { machine } from '../../test/support/machine.js'

/** Names of one length, so that it tells nothing. */
const addresses = {
  unknown: 'stray',
  /** Has a subscription. */
  known: 'buyer',
  /** Also unknown: what two addresses that can't differ look like. */
  unknownToo: 'other',
} as const

/** Addresses of each kind: within the limit of codes for one address and for all visitors. */
const addressCount = 100

type Kind = keyof typeof addresses

/** Sells a subscription to every known address. */
export async function sellToKnown(
  fixture: Fixture,
  grant: { dataset: string; plan: string },
): Promise<void> {
  const store = openStore(fixture)
  try {
    for (let at = 0; at < addressCount; at++) {
      await createSubscription(store, {
        email: emailOf('known', at),
        grants: [grant],
        months: 12,
        globalRows: null,
        priceRub: 0,
        language: 'en',
        now: () => Date.now(),
      })
    }
  } finally {
    await store.close()
  }
}

/**
 * Times of asking for a code with known and unknown addresses. Each request comes from a network of
 * its own, and the codes are removed, as after an hour, before an address meets its limit.
 */
export async function measureLostToken(
  fixture: Fixture,
  target: Target,
  options: { readonly rounds: number; readonly random: Random },
): Promise<ReadonlyMap<Kind, readonly number[]>> {
  const store = openStore(fixture)
  let requests = 0
  const ask = async (kind: Kind, round: number) => {
    if (requests % (addressCount * kinds.length) === 0) {
      await store.write((tx) => removeCodes(tx, { until: Date.now(), ahead: Infinity }))
    }
    requests += 1
    const { ms } = await sendWell(
      { ...target, token: '' },
      {
        method: 'POST',
        path: '/lost-token?lang=en',
        body: new URLSearchParams({ email: emailOf(kind, round % addressCount) }).toString(),
        type: 'application/x-www-form-urlencoded',
        headers: {
          accept: 'text/html',
          'sec-fetch-site': 'same-origin',
          'x-forwarded-for': `10.${(requests >> 8) & 255}.${requests & 255}.1`,
        },
      },
    )
    return ms
  }
  try {
    return await measureRounds(kinds, ask, options)
  } finally {
    await store.close()
  }
}

const kinds = Object.keys(addresses) as readonly Kind[]

function emailOf(kind: Kind, at: number): string {
  return `${addresses[kind]}-${String(at).padStart(3, '0')}@example.org`
}

function openStore({ folder }: Fixture): ControlStore {
  return SqliteStore.open(join(folder, 'state', 'control.db'), machine)
}
