import { becomeMachine } from './simulate/machine/hooks.js'
import { planOf } from './simulate/plan.js'
import { runPlan } from './simulate/run-plan.js'
const now = performance.now.bind(performance)
const machine = await becomeMachine()
const [seed, days] = process.argv.slice(2).map(Number)
const t = now()
const r = await runPlan({ machine, plan: planOf(seed ?? 1, days ?? 5), onLine: (l) => console.log(l) })
console.log(r.broken, r.events, r.kills, r.checks, r.rowsDelivered, r.rowsLost, (now() - t).toFixed(0), process.cpuUsage())
