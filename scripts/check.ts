import { charges } from './scenarios/charges.js'
import { exportRows } from './scenarios/export.js'
import { faults } from './scenarios/faults.js'
import { load } from './scenarios/load.js'
import { reload } from './scenarios/reload.js'
import { replicas } from './scenarios/replicas.js'
import { soak } from './scenarios/soak.js'

const all = [charges, exportRows, faults, load, reload, replicas, soak]
const [name, ...argv] = process.argv.slice(2)
const chosen = all.find((each) => each.name === name)
if (chosen) await chosen.run(argv)
else {
  process.stderr.write(`Usage: tsx scripts/check.ts ${all.map((each) => each.name).join('|')}\n`)
  process.exitCode = 2
}
