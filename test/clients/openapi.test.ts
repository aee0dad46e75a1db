import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { listen } from '../support/answers.js'
import { logged } from '../support/logged.js'
import { startWorld } from '../support/world.js'

/** Made by `npm run test:clients`. */
const schemathesis = resolve('.venv', 'bin', 'schemathesis')

/** Chance requests to each operation: `npm run check:night -- --only clients` sends more. */
const examplesMax = process.env['CLIENTS_WHOLE'] === undefined ? 5 : 50

const options = [
  '--seed=1',
  '--continue-on-failure',
  '--generation-database=none',
  '--suppress-health-check=all',
  // A first page without a filter, a 31st of June, a made-up cursor: right by any schema, and 400.
  // And an empty object for a cursor, read as none: wrong by any schema, and 200.
  '--exclude-checks=positive_data_acceptance,negative_data_rejection',
]

/** Each case that follows from the document, where columns are few; chance requests of all. */
const runs = {
  'cases that follow': ['--phases=examples,coverage', '--exclude-path-regex=/financials'],
  'chance requests': ['--phases=fuzzing', `--max-examples=${examplesMax}`],
}

/** The shipped registry with its files where they are, and rates that no test reaches. */
function patientRegistry(): string {
  return readFileSync('registry.yaml', 'utf8')
    .replaceAll(/: data\//g, `: ${resolve('data')}/`)
    .replaceAll(/rate_per_minute: \d+/g, 'rate_per_minute: 1000000')
}

await t.test('schemathesis finds the server to be as its document says', async (t) => {
  const settings = { trustProxy: '127.0.0.1' }
  const world = await startWorld(t, { files: {}, registry: patientRegistry(), settings })
  // Each request is of another address: a fast machine sends more without a token than one may.
  let requests = 0
  world.app.server.server.prependListener('request', ({ headers }: IncomingMessage) => {
    headers['x-forwarded-for'] = `198.18.${(requests >> 8) & 255}.${requests++ & 255}`
  })
  void world.app.prepare()
  await logged(world, '"packed"')
  const { token } = await world.subscribe(['financials:business', 'procurement:pro'])
  const document = `http://127.0.0.1:${await listen(world)}/openapi.json`
  for (const [name, more] of Object.entries(runs)) {
    const header = `--header=Authorization: Bearer ${token}`
    const child = spawn(schemathesis, ['run', document, header, ...options, ...more], {
      cwd: world.folder,
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    t.equal(code === 0 ? 'no failure' : said, 'no failure', name)
    t.match(said, /[1-9]\d* passed/, `${name}: asked`)
  }
})
