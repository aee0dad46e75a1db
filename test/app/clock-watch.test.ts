import { pino } from 'pino'
import t from 'tap'
import { ClockWatch } from '../../src/app/records/clock-watch.js'
import { chargeAll } from '../../src/control/usage.js'
import { noon, openStore, subscribe } from '../control/fixtures/store.js'
import { MovingClock } from '../support/moving-clock.js'

const dayMs = 24 * 3_600_000

interface Line {
  readonly level: number
  readonly msg: string
}

/** A store, both clocks under the test's hand, and what the watch logs. */
async function observe(t: Parameters<typeof openStore>[0], charged: readonly string[] = []) {
  const control = openStore(t)
  const { subscriptionId } = await subscribe(control)
  const charge = async (period: string) => {
    const caps = { datasetRowsMax: null, globalRowsMax: null }
    await chargeAll(control, [{ subscriptionId, dataset: 'financials', period, rows: 2, ...caps }])
  }
  for (const period of charged) await charge(period)
  const clock = new MovingClock(noon)
  const lines: Line[] = []
  const watch = new ClockWatch({
    control,
    clock,
    logger: pino({}, { write: (line: string) => lines.push(JSON.parse(line) as Line) }),
  })
  t.teardown(() => watch.close())
  /** Ten seconds pass, and the clock is set by so much. */
  const advance = async (stepMs = 0) => {
    clock.ms += stepMs
    await clock.advance(10_000)
    return lines.splice(0)
  }
  await watch.start()
  return { advance, charge, atStart: lines.splice(0) }
}

await t.test('a clock that runs normally is not logged', async (t) => {
  const { advance, atStart } = await observe(t, ['2026-05', '2026-06'])
  t.same(atStart, [])
  t.same(
    [await advance(), await advance(900), await advance(-900), await advance(59_000)],
    [[], [], [], []],
  )
})

await t.test('a clock that ran ahead and came back is logged with the remedy', async (t) => {
  const { advance, charge } = await observe(t, ['2026-06'])
  t.match(await advance(40 * dayMs), [
    {
      level: 40,
      seconds: 40 * 86_400,
      before: '2026-06',
      month: '2026-07',
      msg: /^the clock was set ahead, or the machine slept: the quotas of 2026-07 are open.*--repair$/,
    },
  ])
  await charge('2026-07')
  t.same(await advance(), [])
  const back = await advance(-40 * dayMs)
  t.equal(back.length, 2)
  t.match(back[0], { level: 40, msg: 'the clock was set back', before: '2026-07' })
  t.match(back[1], {
    level: 50,
    newest: '2026-07',
    month: '2026-06',
    msg: /^rows are counted in 2026-07, and by the clock it is 2026-06: .* das usage --repair$/,
  })
  t.same(await advance(), [], 'once')
})

await t.test('a step within a month opens no quota', async (t) => {
  const { advance } = await observe(t, ['2026-06'])
  t.match(await advance(dayMs), [{ msg: /^the clock was set ahead, or the machine slept\. If/ }])
  t.match(await advance(-dayMs), [{ msg: 'the clock was set back' }])
})

await t.test('rows in a later month are reported at the start', async (t) => {
  const { atStart } = await observe(t, ['2026-06', '2027-01'])
  t.match(atStart, [{ level: 50, newest: '2027-01', month: '2026-06' }])
})
