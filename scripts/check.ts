import { charges } from './scenarios/charges.js'
import { difference } from './scenarios/difference.js'
import { exportRows } from './scenarios/export.js'
import { faults } from './scenarios/faults.js'
import { forms } from './scenarios/forms.js'
import { load } from './scenarios/load.js'
import { mail } from './scenarios/mail.js'
import { questions } from './scenarios/questions.js'
import { reload } from './scenarios/reload.js'
import { replicas } from './scenarios/replicas.js'
import { soak } from './scenarios/soak.js'

const scenarios = [
  charges,
  difference,
  exportRows,
  faults,
  forms,
  load,
  mail,
  questions,
  reload,
  replicas,
  soak,
]
const [name, ...argv] = process.argv.slice(2)
const chosen = scenarios.find((each) => each.name === name)
if (chosen) await chosen.run(argv)
else {
  const names = scenarios.map((each) => each.name)
  process.stderr.write(`Usage: tsx scripts/check.ts ${names.join('|')}\n`)
  process.exitCode = 2
}
