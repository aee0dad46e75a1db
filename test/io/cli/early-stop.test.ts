import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { buildCliFixture } from '../../cli/fixtures/cli-fixture.js'
import { compiled } from '../../cli/fixtures/das-process.js'

const { launcher } = compiled(t)

await t.test('a server that is stopped while its engine starts does not listen', async (t) => {
  const { folder } = await buildCliFixture(t)
  const state = join(folder, 'var')
  const child = spawn(process.execPath, [launcher, 'serve', '--port', '0'], {
    env: {
      ...{ PATH: process.env['PATH'], DAS_REGISTRY: join(folder, 'registry.yaml') },
      ...{ DAS_STATE: state, DAS_MEMORY_LIMIT: '512MB', DAS_DRAIN_SECONDS: '1' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let log = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (log += text))
  const ended = once(child, 'close')
  // Each instance of DuckDB has a folder; the first one has started before.
  const instances = () => {
    const temp = join(state, 'tmp')
    return existsSync(temp) ? readdirSync(temp).filter((name) => name.startsWith('instance-')) : []
  }
  while (instances().length < 2 && child.exitCode === null) await sleep(1)
  child.kill('SIGTERM')
  t.same(await ended, [0, null])
  t.match(log, /"msg":"stopped"\}\n$/)
  t.notMatch(log, 'Server listening')
  t.notOk(existsSync(join(state, 'address')), 'other commands find no address of it')
})
