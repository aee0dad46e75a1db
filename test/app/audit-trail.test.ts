import Database from 'better-sqlite3'
import t from 'tap'
import { AuditTrail } from '../../src/app/records/audit-trail.js'
import { listActions } from '../../src/control/audit.js'
import { clockAt, noon, openStore, storePath } from '../control/fixtures/store.js'
import { machineClock } from '../../src/clock.js'

await t.test('an action waits while control.db is locked, and is recorded at a stop', async (t) => {
  const path = storePath(t)
  const control = openStore(t, path)
  control.file.setBusyTimeout(1)
  const warnings: unknown[] = []
  const logger = { warn: (fields: unknown) => warnings.push(fields), error: () => t.fail() }
  const trail = new AuditTrail({ control, clock: { ...machineClock, now: clockAt(noon) }, logger })
  const other = new Database(path)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  trail.record('pack.made', 'things', { files: 2 })
  await trail.flush()
  t.equal(warnings.length, 1, 'reported once')
  other.exec('ROLLBACK')
  t.same(await listActions(control, {}), [])
  await trail.close()
  t.match(await listActions(control, {}), [
    { recordedAt: noon, actor: 'server', action: 'pack.made', details: { files: 2 } },
  ])
  await trail.flush()
  t.equal((await listActions(control, {})).length, 1, 'once')
  t.end()
})

await t.test('at most 1,000 actions wait; the log has those beyond them', async (t) => {
  const path = storePath(t)
  const control = openStore(t, path)
  const errors: unknown[] = []
  const logger = { warn: () => undefined, error: (fields: unknown) => errors.push(fields) }
  const trail = new AuditTrail({ control, clock: { ...machineClock, now: clockAt(noon) }, logger })
  control.file.block()
  for (let count = 0; count < 1001; count += 1) trail.record('pack.failed', `things${count}`)
  t.same(errors, [{ action: 'pack.failed', subject: 'things1000', details: {} }])
  control.file.reopen()
  await trail.close()
  t.equal((await listActions(control, {})).length, 1000)
  t.end()
})
