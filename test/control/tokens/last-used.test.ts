import t from 'tap'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import type { ControlStore } from '../../../src/control/store/store.js'
import { LastUsed } from '../../../src/control/tokens/last-used.js'
import { listTokens } from '../../../src/control/tokens/tokens.js'
import { hourMs, noon, openStore, storePath, subscribe } from '../fixtures/store.js'
import { machine } from '../../support/machine.js'

const minuteMs = 60_000

/** A recorder under a clock that the test sets, and what the database says of the first token. */
async function record(store: ControlStore) {
  const { tokenId } = await subscribe(store)
  const clock = { ms: noon }
  const failures: unknown[] = []
  const lastUsed = new LastUsed(
    store,
    () => clock.ms,
    (cause) => failures.push(cause),
  )
  const noteAt = async (ms: number, id = tokenId) => {
    clock.ms = ms
    lastUsed.note(id)
    // The notes are written beside the request: a later write ends after them.
    await store.write(async () => undefined).catch(() => undefined)
  }
  const stored = async () => (await listTokens(store))[0]?.lastUsedAt
  return { lastUsed, noteAt, stored, tokenId, failures }
}

await t.test('uses are written once a minute, the latest only', async (t) => {
  const { noteAt, stored } = await record(openStore(t))
  await noteAt(noon + 1000)
  await noteAt(noon + minuteMs - 1)
  t.equal(await stored(), null, 'still in memory')
  await noteAt(noon + minuteMs)
  t.equal(await stored(), noon + minuteMs)
  await noteAt(noon + 2 * minuteMs - 1)
  t.equal(await stored(), noon + minuteMs, 'the next minute has not passed')
})

await t.test('closing writes what is noted', async (t) => {
  const { lastUsed, noteAt, stored } = await record(openStore(t))
  await noteAt(noon + 5)
  await lastUsed.close()
  t.equal(await stored(), noon + 5)
})

await t.test('a clock that steps back holds nothing up and takes nothing back', async (t) => {
  const store = openStore(t)
  const { noteAt, stored, tokenId } = await record(store)
  const other = await subscribe(store, { now: () => noon + 1 })
  await noteAt(noon + minuteMs)
  await noteAt(noon - hourMs, tokenId)
  await noteAt(noon - hourMs + minuteMs, other.tokenId)
  t.equal(await stored(), noon + minuteMs, 'the latest use stays')
  t.match(await listTokens(store, other.subscriptionId), [{ lastUsedAt: noon - hourMs + minuteMs }])
})

await t.test('a write that fails is told once, keeps the notes, and is tried again', async (t) => {
  const path = storePath(t)
  const holder = openStore(t, path)
  const store = SqliteStore.open(path, { ...machine, busyTimeoutMs: 1 })
  t.teardown(() => store.close())
  const { lastUsed, noteAt, stored, failures } = await record(store)
  holder.file.db.exec('BEGIN EXCLUSIVE')
  await noteAt(noon + minuteMs)
  await noteAt(noon + 2 * minuteMs)
  await noteAt(noon + 2 * minuteMs + 1)
  await lastUsed.close()
  t.match(failures, [{ code: 'service_unavailable', cause: { code: 'SQLITE_BUSY' } }])
  holder.file.db.exec('ROLLBACK')
  await noteAt(noon + 3 * minuteMs + 1, 'tok_of_nobody')
  t.equal(await stored(), noon + 2 * minuteMs + 1)

  holder.file.db.exec('BEGIN EXCLUSIVE')
  await noteAt(noon + 4 * minuteMs + 1)
  t.equal(failures.length, 2, 'a streak of its own')
  holder.file.db.exec('ROLLBACK')
})

await t.test('what is noted is bounded', async (t) => {
  const { lastUsed, noteAt, stored, tokenId } = await record(openStore(t))
  for (let n = 0; n < 100_000; n += 1) lastUsed.note(`tok_${n}`)
  await noteAt(noon, tokenId)
  await lastUsed.close()
  t.equal(await stored(), null, 'the one over the limit')
  await noteAt(noon + 1)
  await lastUsed.close()
  t.equal(await stored(), noon + 1, 'noted at its next use')
})

await t.test('closing with nothing noted needs no database', async (t) => {
  const store = openStore(t)
  const { lastUsed } = await record(store)
  await store.close()
  await t.resolves(() => lastUsed.close())
})
