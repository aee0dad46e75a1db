import { night } from './checks/night.js'
import { pagePath, recordRun, requireClean } from './checks/record-run.js'
import { partOf } from './checks/part-of.js'
import { chooseSteps, listOptions, listText, runList } from './checks/steps-command.js'
import { optionalText, toggle, UsageError } from './harness/options.js'
import { runScript } from './harness/script.js'

const command = {
  name: 'check-night',
  usage: 'npm run check:night --',
  about: `Runs every check and benchmark whole, one after the other. A failure stops no other step; the exit
code is then 1. Each step's whole output is in .checks/night.`,
  options: {
    ...listOptions,
    part: optionalText('part K of N of about equal length, for several machines', 'K/N'),
    record: toggle(`writes the results to ${pagePath}; only of all steps of a commit`),
  },
  footer: 'Example: npm run check:night -- --only charges,replicas',
}

await runScript(command, async ({ list, part, record, ...given }, run) => {
  const isWhole = part === null && given.only === null && given.from === null
  if (record && !isWhole) throw new UsageError('--record is for a run of all steps')
  const steps = chooseSteps(night, given)
  const chosen = part === null ? steps : partOf(steps, part)
  if (list) return run.print(listText(chosen))
  const commit = record ? await requireClean() : null
  const outcomes = await runList(chosen, run)
  if (commit !== null) await recordRun(outcomes, commit)
})
