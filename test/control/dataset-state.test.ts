import t from 'tap'
import {
  listDatasetStates,
  readRegistryState,
  saveDatasetStates,
} from '../../src/control/dataset-state.js'
import { noon, openAnyStore, storePath } from './fixtures/store.js'

const financials = {
  dataset: 'financials',
  version: 'v7',
  status: 'serving',
  reason: null,
  rows: 15_750_000,
  files: 7,
  stored: 'linked',
  packing: null,
  diskBytes: 0,
  earlier: 2,
  updatedAt: noon,
} as const
const procurement = {
  dataset: 'procurement',
  version: null,
  status: 'unavailable',
  reason: 'procurement.parquet: no columns',
  rows: null,
  files: null,
  stored: null,
  packing: null,
  diskBytes: 1,
  earlier: 0,
  updatedAt: noon,
} as const

const registry = { reason: null, updatedAt: noon }
const names = ['procurement', 'financials']

await t.test('the states that the server saved are read by another process, by name', async (t) => {
  const path = storePath(t)
  const server = openAnyStore(t, path)
  const commandLine = openAnyStore(t, path)
  t.same(await listDatasetStates(commandLine), [])
  await saveDatasetStates(server, names, [procurement, financials], registry)
  t.same(await listDatasetStates(commandLine), [financials, procurement])
  t.same(await readRegistryState(commandLine), registry)
})

await t.test(
  'a later save changes what it holds, and removes what left the registry',
  async (t) => {
    const store = openAnyStore(t)
    await saveDatasetStates(store, names, [financials, procurement], registry)
    const refreshed = { ...financials, version: 'v8', updatedAt: noon + 1 }
    await saveDatasetStates(store, names, [refreshed], registry)
    t.same(await listDatasetStates(store), [refreshed, procurement])
    await saveDatasetStates(store, ['procurement'], [], registry)
    t.same(await listDatasetStates(store), [procurement])
    t.end()
  },
)

await t.test('a failed save keeps the last list', async (t) => {
  const store = openAnyStore(t)
  await saveDatasetStates(store, names, [financials], registry)
  const unreadable = { ...procurement, status: 'gone' } as unknown as typeof procurement
  await t.rejects(() => saveDatasetStates(store, ['procurement'], [unreadable], registry))
  t.same(await listDatasetStates(store), [financials])
  t.end()
})
