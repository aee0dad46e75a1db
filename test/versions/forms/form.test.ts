import { createHash } from 'node:crypto'
import t from 'tap'
import { formsOf } from '../../../src/versions/forms/form.js'
import type { Version } from '../../../src/versions/version.js'

await t.test('a row copy with a former layout of blocks is not taken for one of now', async (t) => {
  const file = { rows: 1, contentHash: 'a', partition: new Map() }
  const version = { files: [file], rows: 1, columns: [], lookUps: [], history: null }
  const rows = formsOf(version as unknown as Version).find(({ kind }) => kind === 'rows')
  const former = JSON.stringify(['rows', 1, 'a', [], [[], [], null]])
  const name = `${createHash('sha256').update(former).digest('hex').slice(0, 32)}.rows`
  t.not(rows?.name, name, 'blocks have the length of their text since layout 2')
})
