import { must } from './checks/must.js'
import { chooseSteps, listOptions, listText, runList } from './checks/steps-command.js'
import { runScript } from './harness/script.js'

const command = {
  name: 'check-must',
  usage: 'npm run check:must --',
  about: `Runs everything that must pass before a change is merged, two steps side by side. .ci/run installs
what it needs and runs the same. A failure stops no other step; the exit code is then 1. Each
step's whole output is in .checks/must.`,
  options: listOptions,
}

await runScript(command, async ({ list, ...given }, run) => {
  const chosen = chooseSteps(must, given)
  if (list) run.print(listText(chosen))
  else await runList(chosen, run)
})
