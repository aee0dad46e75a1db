import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { must } from '../../../scripts/checks/must.js'
import { night } from '../../../scripts/checks/night.js'
import { partOf } from '../../../scripts/checks/part-of.js'
import { runSteps } from '../../../scripts/checks/run-steps.js'
import { chooseSteps } from '../../../scripts/checks/steps-command.js'
import type { Step, StepList } from '../../../scripts/checks/step.js'
import { Cleanup } from '../../../scripts/harness/script.js'

/** Runs steps, two side by side, in a folder of the test. */
async function runIn(t: Test, steps: readonly Omit<Step, 'seconds'>[]) {
  const folder = t.testdir({})
  const said: string[] = []
  const quiet = () => undefined
  const cleanup = new Cleanup()
  const run = { log: (words: string) => said.push(words), update: quiet, print: quiet, cleanup }
  const timed = steps.map((step) => ({ ...step, seconds: 1 }))
  const outcomes = await runSteps({ name: 'must', steps: timed, atOnce: 2 }, folder, run)
  const results = Object.fromEntries(outcomes.map(({ step, result }) => [step.name, result]))
  return { folder, results, outcomes, said: said.join('\n') }
}

await t.test('a step that fails stops only those that need it, and its end is shown', async (t) => {
  const { folder, results, said } = await runIn(t, [
    { name: 'bad', line: 'seq 1000; echo at the end >&2; exit 3' },
    { name: 'needs-bad', line: 'true', after: ['bad'] },
    { name: 'good', line: 'echo first; echo last' },
    { name: 'needs-good', line: 'true', after: ['good'] },
  ])
  t.same(results, { bad: 'failed', 'needs-bad': 'not run', good: 'passed', 'needs-good': 'passed' })
  t.match(said, /bad ends:\n802\n[^]*1000\nat the end\n/)
  t.match(said, /bad: failed in \d+ s: exit 3; \S+bad\.log has its whole output/)
  t.match(said, /good: passed in \d+ s: last/)
  t.notMatch(said, 'first')
  t.equal(readFileSync(join(folder, 'good.log'), 'utf8'), 'first\nlast\n')
})

await t.test('steps of one turn run one after the other, others beside them', async (t) => {
  const at = t.testdir({})
  /** Says that it runs, until another step has run beside it, for half a minute at most. */
  const meet = (own: string, other: string) =>
    `cd ${at}; touch ${own}; i=0
    until [ -e ${other} ] || [ $i = 300 ]; do i=$((i + 1)); sleep 0.1; done; [ -e ${other} ]`
  const { results } = await runIn(t, [
    { name: 'first', line: `${meet('first', 'beside')} && touch first-ended`, turn: 'tests' },
    { name: 'second', line: `[ -e ${at}/first-ended ]`, turn: 'tests' },
    { name: 'beside', line: meet('beside', 'first') },
  ])
  t.same(results, { first: 'passed', second: 'passed', beside: 'passed' })
})

await t.test('a stop ends the steps that run, begins no other and reports none', async (t) => {
  const cleanup = new Cleanup()
  const said: string[] = []
  const steps = [
    { name: 'long', line: 'sleep 1000', seconds: 1 },
    { name: 'next', line: 'true', seconds: 1 },
  ]
  const run = {
    log: (words: string) => said.push(words),
    /** It says that the first one runs. */
    update: () => {
      void cleanup.closeAll('stopped')
    },
    print: () => undefined,
    cleanup,
  }
  await t.rejects(runSteps({ name: 'must', steps, atOnce: 1 }, t.testdir({}), run), {
    message: 'stopped',
  })
  t.equal(said.length, 1)
})

const namesOf = ({ steps }: StepList) => steps.map(({ name }) => name)

await t.test('--only runs a step with what it needs, --from the rest of the list', (t) => {
  t.same(namesOf(chooseSteps(must, { only: 'coverage', from: null })), ['tests', 'coverage'])
  t.same(namesOf(chooseSteps(must, { only: 'charges', from: null })), ['build', 'charges'])
  const [last = ''] = namesOf(night).slice(-1)
  t.same(namesOf(chooseSteps(night, { only: null, from: last })), [last])
  t.throws(() => chooseSteps(night, { only: 'chargse', from: null }), {
    message: 'check:night has no step "chargse"; see --list',
  })
  t.end()
})

await t.test('the parts of a list have each step once, and are about equally long', (t) => {
  const parts = ['1/3', '2/3', '3/3'].map((text) => partOf(night, text))
  t.same(parts.flatMap(namesOf).sort(), namesOf(night).sort())
  const lengths = parts.map(({ steps }) => steps.reduce((sum, { seconds }) => sum + seconds, 0))
  t.ok(Math.max(...lengths) < 1.5 * Math.min(...lengths), lengths.join())
  for (const text of ['0/3', '4/3', '1', 'x']) t.throws(() => partOf(night, text))
  t.end()
})

await t.test('names are told apart, and what a step needs is in its list', (t) => {
  for (const list of [must, night]) {
    const names = namesOf(list)
    t.equal(new Set(names).size, names.length)
    for (const { name, after = [] } of list.steps) {
      for (const each of after) t.ok(names.indexOf(each) < names.indexOf(name), `${name}: ${each}`)
    }
  }
  t.end()
})
