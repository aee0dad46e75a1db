import t from 'tap'
import {
  listDatasetStates,
  readRegistryState,
  saveDatasetStates,
} from '../../src/control/dataset-state.js'
import type { ReportedState } from '../../src/control/dataset-state.js'
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
  warnings: [],
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
  warnings: [],
  diskBytes: 1,
  earlier: 0,
  updatedAt: noon,
} as const

/** As it is read: since when its reason is the same. */
const stored = (state: ReportedState) => {
  return { ...state, reasonSince: state.reason === null ? null : noon }
}

const registry = { reason: null, updatedAt: noon }
const names = ['procurement', 'financials']

await t.test('the states that the server saved are read by another process, by name', async (t) => {
  const path = storePath(t)
  const server = openAnyStore(t, path)
  const commandLine = openAnyStore(t, path)
  t.same(await listDatasetStates(commandLine), [])
  await saveDatasetStates(server, names, [procurement, financials], registry)
  t.same(await listDatasetStates(commandLine), [stored(financials), stored(procurement)])
  t.same(await readRegistryState(commandLine), registry)
})

await t.test(
  'a later save changes what it holds, and removes what left the registry',
  async (t) => {
    const store = openAnyStore(t)
    await saveDatasetStates(store, names, [financials, procurement], registry)
    const refreshed = { ...financials, version: 'v8', updatedAt: noon + 1 }
    await saveDatasetStates(store, names, [refreshed], registry)
    t.same(await listDatasetStates(store), [stored(refreshed), stored(procurement)])
    await saveDatasetStates(store, ['procurement'], [], registry)
    t.same(await listDatasetStates(store), [stored(procurement)])
    t.end()
  },
)

await t.test('a reason keeps the time since when it is the same', async (t) => {
  const store = openAnyStore(t)
  const warnings = ['1 column missing in some files: "v"']
  const save = async (minutes: number, reason: string | null) => {
    const state = { ...financials, status: 'stale' as const, reason, warnings }
    await saveDatasetStates(
      store,
      names,
      [{ ...state, updatedAt: noon + minutes * 60_000 }],
      registry,
    )
    const [saved] = await listDatasetStates(store)
    t.same(saved?.warnings, warnings)
    return saved?.reasonSince
  }
  t.equal(await save(0, 'fewer rows'), noon)
  t.equal(await save(1, 'fewer rows'), noon)
  t.equal(await save(2, 'no columns'), noon + 120_000)
  t.equal(await save(3, null), null)
  t.equal(await save(4, 'no columns'), noon + 240_000)
})

await t.test('a failed save keeps the last list', async (t) => {
  const store = openAnyStore(t)
  await saveDatasetStates(store, names, [financials], registry)
  const unreadable = { ...procurement, status: 'gone' } as unknown as typeof procurement
  await t.rejects(() => saveDatasetStates(store, ['procurement'], [unreadable], registry))
  t.same(await listDatasetStates(store), [stored(financials)])
  t.end()
})
