import t from 'tap'
import { spaceFinding } from '../../../src/cli/doctor/server-checks.js'

const roomy = { bsize: 4096, blocks: 10_000_000, bavail: 5_000_000 }

const findingOf = (bavail: number, hasState = true) =>
  spaceFinding('/var/lib/das', { ...roomy, bavail }, hasState)

await t.test('a disk without room fails where the state is, and warns elsewhere', (t) => {
  t.match(findingOf(5_000_000), { status: 'ok' })
  t.match(findingOf(900_000), { status: 'warn' }, 'less than 10 %')
  t.match(findingOf(100_000, false), { status: 'warn' })
  t.match(findingOf(100_000), {
    status: 'fail',
    what: '410 MB of 41.0 GB free at /var/lib/das',
    advice: /docs\/runbook\.md/,
  })
  t.end()
})
