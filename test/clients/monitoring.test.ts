import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { callTool } from '../support/mcp/mcp-messages.js'
import { scrape, withMetrics } from '../support/metrics.js'
import { demoToken, startThings } from '../support/things.js'
import type { World } from '../support/world.js'

const run = promisify(execFile)
const folder = 'docs/monitoring'

const wrongAddresses = ['203.0.113.7', '2001:db8::7']

/** A world whose log has answers, refusals and wrong tokens; its log is also the file das.log. */
async function startLogged(t: Parameters<typeof startThings>[0]): Promise<World> {
  const world = await startThings(t, { ...withMetrics, trustProxy: '127.0.0.1' })
  const { token } = await world.subscribe(['things:pro'])
  for (const address of wrongAddresses) {
    const headers = { 'x-forwarded-for': address }
    await world.get('/v1/things', 'das_live_wrong', { headers })
    await world.get('/v1/things?limit=1', token, { headers })
  }
  // What a client sends can't look like a refusal of another address.
  const forged = '/x","address":"203.0.113.99","status":401,'
  await world.get(encodeURI(forged), token)
  await world.get('/v1/things', undefined, { headers: { 'x-request-id': forged } })
  await world.get('/v1/things?limit=1', demoToken)
  await callTool(world, token, 'query', { resource: 'things', limit: 2 })
  await callTool(world, token, 'query', { resource: 'none' })
  writeFileSync(join(world.folder, 'das.log'), world.log.join(''))
  return world
}

await t.test('promtool accepts the alert rules and the configuration', async (t) => {
  const rules = await run('promtool', ['check', 'rules', `${folder}/alerts.yml`])
  t.match(rules.stdout, /SUCCESS: 18 rules found/)
  const config = await run('promtool', ['check', 'config', `${folder}/prometheus.yml`])
  t.match(config.stdout, /is valid prometheus config file syntax/)
})

await t.test('promtool accepts every query of the dashboard', async (t) => {
  const text = readFileSync(`${folder}/grafana-dashboard.json`, 'utf8')
  // What Grafana puts in the place of its variables.
  const filled = text.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.+')
  const { panels } = JSON.parse(filled) as { panels: { targets: { expr: string }[] }[] }
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const rules = queries.map((expr, at) => ({ record: `query_${at}`, expr }))
  const path = join(t.testdir(), 'queries.yml')
  writeFileSync(path, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  const { stdout } = await run('promtool', ['check', 'rules', path])
  t.match(stdout, `SUCCESS: ${queries.length} rules found`)
  t.ok(queries.length > 20)
})

await t.test('promtool finds no fault in the metrics', async (t) => {
  const world = await startLogged(t)
  const input = await scrape(world)
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input })
  t.equal(status, 0)
  t.equal(String(stdout) + String(stderr), '')
})

await t.test('fail2ban finds the addresses of wrong tokens and no other', async (t) => {
  const world = await startLogged(t)
  const found = async (file: string) => {
    const args = ['-o', '<ip>', join(world.folder, file), `${folder}/fail2ban-filter.conf`]
    return (await run('fail2ban-regex', args)).stdout.trim().split('\n')
  }
  t.strictSame(await found('das.log'), [...wrongAddresses, '127.0.0.1'])
  const journal = world.log.map((line) => `host das[17]: ${line}`)
  writeFileSync(join(world.folder, 'journal.log'), journal.join(''))
  t.strictSame(await found('journal.log'), [...wrongAddresses, '127.0.0.1'])
})

await t.test('the questions with jq in the documentation have answers', async (t) => {
  const world = await startLogged(t)
  const page = readFileSync('docs/monitoring.md', 'utf8')
  const questions = [...page.matchAll(/^```bash\n([^]*?)^```$/gm)].map(([, text = '']) => text)
  t.equal(questions.length, 5)
  const line = world.log.find((each) => each.includes('"status":401')) ?? '{}'
  const { requestId } = JSON.parse(line) as { requestId: string }
  const env = { ...process.env, REQUEST_ID: requestId }
  const answers: string[] = []
  for (const text of questions) {
    const script = `set -euo pipefail\n${text}`
    answers.push((await run('bash', ['-c', script], { cwd: world.folder, env })).stdout)
  }
  const [most, refused, slowest, spread, one] = answers
  t.match(
    most,
    /^\{"subscription":"sub_\w+","dataset":"things","requests":3,"rows":4,"charged":4\}/,
  )
  t.match(refused, / 3 rest query unauthorized\n/)
  t.match(refused, / 1 mcp query not_found\n/)
  t.match(slowest, /^\{"totalMs":[\d.]+,"queueMs":/)
  t.match(spread, /^\{"tokenId":"tok_\w+","addresses":3\}\n$/)
  t.equal(one, line)
})
