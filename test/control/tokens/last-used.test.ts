import t from 'tap'
import { ControlStore } from '../../../src/control/store/store.js'
import { LastUsed } from '../../../src/control/tokens/last-used.js'
import { listTokens } from '../../../src/control/tokens/tokens.js'
import { hourMs, noon, openStore, storePath, subscribe } from '../fixtures/store.js'

const minuteMs = 60_000

/** A recorder under a clock that the test sets, and what the database says of the first token. */
function record(store: ControlStore) {
  const { tokenId } = subscribe(store)
  const clock = { ms: noon }
  const failures: unknown[] = []
  const lastUsed = new LastUsed(
    store,
    () => clock.ms,
    (cause) => failures.push(cause),
  )
  const noteAt = (ms: number, id = tokenId) => {
    clock.ms = ms
    lastUsed.note(id)
  }
  const stored = () => listTokens(store)[0]?.lastUsedAt
  return { lastUsed, noteAt, stored, tokenId, failures }
}

await t.test('uses are written once a minute, the latest only', async (t) => {
  const { noteAt, stored } = record(openStore(t))
  noteAt(noon + 1000)
  noteAt(noon + minuteMs - 1)
  t.equal(stored(), null, 'still in memory')
  noteAt(noon + minuteMs)
  t.equal(stored(), noon + minuteMs)
  noteAt(noon + 2 * minuteMs - 1)
  t.equal(stored(), noon + minuteMs, 'the next minute has not passed')
})

await t.test('closing writes what is noted', async (t) => {
  const { lastUsed, noteAt, stored } = record(openStore(t))
  noteAt(noon + 5)
  lastUsed.close()
  t.equal(stored(), noon + 5)
})

await t.test('a clock that steps back holds nothing up and takes nothing back', async (t) => {
  const store = openStore(t)
  const { noteAt, stored, tokenId } = record(store)
  const other = subscribe(store, { now: () => noon + 1 })
  noteAt(noon + minuteMs)
  noteAt(noon - hourMs, tokenId)
  noteAt(noon - hourMs + minuteMs, other.tokenId)
  t.equal(stored(), noon + minuteMs, 'the latest use stays')
  t.match(listTokens(store, other.subscriptionId), [{ lastUsedAt: noon - hourMs + minuteMs }])
})

await t.test('a write that fails is told once, keeps the notes, and is tried again', async (t) => {
  const path = storePath(t)
  const holder = openStore(t, path)
  const store = ControlStore.open(path, { busyTimeoutMs: 1 })
  t.teardown(() => store.close())
  const { lastUsed, noteAt, stored, failures } = record(store)
  holder.db.exec('BEGIN EXCLUSIVE')
  noteAt(noon + minuteMs)
  noteAt(noon + 2 * minuteMs)
  noteAt(noon + 2 * minuteMs + 1)
  lastUsed.close()
  t.match(failures, [{ code: 'service_unavailable', cause: { code: 'SQLITE_BUSY' } }])
  holder.db.exec('ROLLBACK')
  noteAt(noon + 3 * minuteMs + 1, 'tok_of_nobody')
  t.equal(stored(), noon + 2 * minuteMs + 1)

  holder.db.exec('BEGIN EXCLUSIVE')
  noteAt(noon + 4 * minuteMs + 1)
  t.equal(failures.length, 2, 'a streak of its own')
  holder.db.exec('ROLLBACK')
})

await t.test('what is noted is bounded', async (t) => {
  const { lastUsed, noteAt, stored, tokenId } = record(openStore(t))
  for (let n = 0; n < 100_000; n += 1) noteAt(noon, `tok_${n}`)
  noteAt(noon, tokenId)
  lastUsed.close()
  t.equal(stored(), null, 'the one over the limit')
  noteAt(noon + 1)
  lastUsed.close()
  t.equal(stored(), noon + 1, 'noted at its next use')
})

await t.test('closing with nothing noted needs no database', async (t) => {
  const store = openStore(t)
  const { lastUsed } = record(store)
  store.close()
  t.doesNotThrow(() => lastUsed.close())
})
