import t from 'tap'
import { listDatasetStates, saveDatasetStates } from '../../src/control/dataset-state.js'
import { noon, openStore, storePath } from './fixtures/store.js'

const financials = {
  dataset: 'financials',
  version: 'v7',
  status: 'serving',
  reason: null,
  rows: 15_750_000,
  updatedAt: noon,
}
const procurement = {
  dataset: 'procurement',
  version: null,
  status: 'refused',
  reason: 'procurement.parquet: no columns',
  rows: null,
  updatedAt: noon,
}

await t.test('the states that the server saved are read by another process, by name', async (t) => {
  const path = storePath(t)
  const server = openStore(t, path)
  const commandLine = openStore(t, path)
  t.same(listDatasetStates(commandLine), [])
  saveDatasetStates(server, [procurement, financials])
  t.same(listDatasetStates(commandLine), [financials, procurement])
})

await t.test(
  'a later save replaces the list: a dataset that left the registry is gone',
  async (t) => {
    const store = openStore(t)
    saveDatasetStates(store, [financials, procurement])
    const refreshed = { ...financials, version: 'v8', updatedAt: noon + 1 }
    saveDatasetStates(store, [refreshed])
    t.same(listDatasetStates(store), [refreshed])
  },
)

await t.test('a save that fails leaves the last list standing', async (t) => {
  const store = openStore(t)
  saveDatasetStates(store, [financials])
  t.throws(() => saveDatasetStates(store, [procurement, procurement]))
  t.same(listDatasetStates(store), [financials])
})
