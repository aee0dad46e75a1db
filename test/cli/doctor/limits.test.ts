import t from 'tap'
import { limitFindings } from '../../../src/cli/doctor/limits.js'
import type { Limits } from '../../../src/cli/doctor/limits.js'

const good: Limits = {
  openFiles: { soft: 65_536, hard: 65_536 },
  memoryLimitBytes: 2e9,
  machineBytes: 4e9,
}

const statusOf = (limits: Partial<Limits>) =>
  limitFindings({ ...good, ...limits }, 'the server').map(({ status }) => status)

await t.test('few descriptors and little memory warn, too few and too little fail', (t) => {
  t.same(statusOf({}), ['ok', 'ok'])
  t.same(statusOf({ openFiles: null }), ['ok', 'ok'])
  t.same(statusOf({ openFiles: { soft: 1024, hard: null } }), ['warn', 'ok'])
  t.same(statusOf({ openFiles: { soft: 256, hard: 256 } }), ['fail', 'ok'])
  t.same(statusOf({ machineBytes: 2.2e9 }), ['ok', 'warn'])
  t.same(statusOf({ machineBytes: 2e9 }), ['ok', 'fail'])
  t.end()
})
