import t from 'tap'
import { diskFindings } from '../../../src/cli/doctor/space.js'

const roomy = { bsize: 4096, blocks: 10_000_000, bavail: 5_000_000, files: 1000, ffree: 900 }

const statusOf = (space: object, hasState = true) =>
  diskFindings('/var/lib/das', { ...roomy, ...space }, hasState).map(({ status }) => status)

await t.test('a disk without room or inodes fails where the state is, and warns elsewhere', (t) => {
  t.same(statusOf({}), ['ok'])
  t.same(statusOf({ bavail: 900_000 }), ['warn'], 'less than 10 %')
  t.same(statusOf({ bavail: 100_000 }), ['fail'], 'less than 500 MB')
  t.same(statusOf({ bavail: 100_000 }, false), ['warn'])
  t.same(statusOf({ ffree: 9 }), ['fail'])
  t.same(statusOf({ ffree: 9, bavail: 100_000 }, false), ['warn', 'warn'])
  t.same(statusOf({ files: 0, ffree: 0 }), ['ok'], 'a file system that makes inodes as needed')
  t.match(diskFindings('/var/lib/das', { ...roomy, bavail: 100_000 }, true), [
    { what: '410 MB of 41.0 GB free at /var/lib/das', advice: /docs\/runbook\.md/ },
  ])
  t.end()
})
