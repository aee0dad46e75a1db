import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { readsAll, startEverything } from './fixtures/everything.js'
import type { ReadByClient } from './fixtures/everything.js'
import { keptBuild } from './fixtures/kept-build.js'

// Guarantee: a client in Go that is generated from the document reads every cell as it was sent.

const run = promisify(execFile)
/** Made by `npm run test:clients`. */
const go = resolve('.venv', 'bin', 'go')

/** The folder of the program, made of the document by the generator that go.mod pins. */
function buildClient(document: string): Promise<string> {
  return keptBuild('test/clients/go', document, async (folder) => {
    mkdirSync(join(folder, 'das'))
    const options = ['-generate', 'types,client', '-package', 'das', '-o', 'das/das.go']
    await run(go, ['tool', 'oapi-codegen', ...options, 'openapi.json'], { cwd: folder })
    await run(go, ['build', '-o', 'client', '.'], { cwd: folder })
  })
}

/** What Go makes of each type. */
const types = {
  ...{ tiny: '*int32', small: '*int32', int: '*int32', utiny: '*int32', usmall: '*int32' },
  ...{ big: '*int64', uint: '*int64', ubig: '*string', single: '*float32', double: '*float64' },
  ...{ money: '*float64', sum: '*float64', wide: '*float64', flag: '*bool', words: '*string' },
  ...{ big_text: '*string', sum_text: '*string', wide_text: '*string' },
  ...{ id: '*uuid.UUID', day: '*types.Date', zoned: '*time.Time', bytes: '*[]uint8' },
  ...{ clock: '*string', second: '*string', milli: '*string', micro: '*string', nano: '*string' },
  ...{ gap: '*string', list: 'interface {}', struct: 'interface {}', map: 'interface {}' },
  ...{ tree: 'interface {}' },
}

await t.test('oapi-codegen', async (t) => {
  const { base, token, document } = await startEverything(t)
  const folder = await buildClient(document)
  const { stdout } = await run(join(folder, 'client'), [base], { env: { DAS_TOKEN: token } })
  readsAll(t, JSON.parse(stdout) as ReadByClient, types)
})
