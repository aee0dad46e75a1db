import t from 'tap'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import type { Sql } from '../../../src/control/store/sql.js'
import type { ControlStore } from '../../../src/control/store/store.js'
import { openOrders } from '../../../src/control/order-counts.js'
import { tidyShop } from '../../../src/sales/orders/tidy-shop.js'
import { readReport, reports } from '../../../src/sales/owner/reports.js'
import type { ReportName } from '../../../src/sales/owner/reports.js'
import { noon } from '../../control/fixtures/store.js'
import { machine } from '../../support/machine.js'

// Guarantee: no statement of the owner's page, or of the shop's rounds, reads whole orders to find a
// few: with twenty thousand of them each would keep all requests waiting.
await t.test('the page and the rounds find orders by an index alone', async (t) => {
  const store = SqliteStore.open(`${t.testdir()}/control.db`, machine)
  t.teardown(() => store.close())
  const run: Sql[] = []
  const noting: ControlStore = {
    ...{ actor: 'server', random: store.random, dialect: store.dialect, file: null },
    all: (statement) => {
      run.push(statement)
      return store.all(statement)
    },
    run: (statement) => {
      run.push(statement)
      return store.run(statement)
    },
    write: (work) => work(noting),
    close: () => store.close(),
  }
  const parts = { store: noting, registry: () => null, now: () => noon }
  for (const name of Object.keys(reports) as ReportName[]) await readReport(name, parts)
  await openOrders(noting, 100)
  await tidyShop(parts)
  const steps = run.flatMap(({ texts, values }) =>
    store.file.db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${texts.join('?')}`)
      .all(...values)
      .map(({ detail }) => detail),
  )
  const ofOrders = steps.filter((detail) => / orders\b/.test(detail))
  t.ok(ofOrders.length > 5)
  for (const step of ofOrders) {
    // With `entry` too, only those that are scheduled.
    t.match(step, /COVERING INDEX|PRIMARY KEY \(id=\?\)|orders_by_state \(state=\? AND entry=\?\)/)
  }
})
