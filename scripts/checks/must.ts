import type { Step, StepList } from './step.js'

/** Steps that need the built program, whose folder no other step may write meanwhile. */
const after = ['build']
/** Of steps that run `npm test`, which compiles to one folder. */
const turn = 'tests'

/**
 * What must pass before a change is merged: the tests, and each promise in the smallest form that
 * still shows that it is broken. Long steps come first, so that short ones fill the end.
 */
const steps: readonly Step[] = [
  { name: 'build', line: 'npm run build', seconds: 5 },
  { name: 'tests', line: 'npm run test:all', seconds: 600, turn },
  { name: 'types', line: 'npm run types', seconds: 40 },
  { name: 'lint', line: 'npm run lint', seconds: 75 },
  { name: 'format', line: 'npm run format:check', seconds: 30 },
  { name: 'knip', line: 'npm run knip', seconds: 5 },
  { name: 'coverage', line: 'npm run coverage', seconds: 20, after: ['tests'], turn },
  { name: 'python', line: 'npm run pretest:clients', seconds: 60 },
  {
    name: 'clients',
    line: 'npm test -- test/clients/*.test.ts',
    seconds: 240,
    after: ['build', 'python'],
    turn,
  },
  {
    name: 'browser',
    line: 'npm test -- test/browser/*.test.ts',
    seconds: 210,
    after: ['build', 'python'],
    turn,
  },
  { name: 'postgres', line: 'npm test -- test/scale/postgres-*.test.ts', seconds: 60, turn },
  { name: 'faults', line: 'tsx scripts/check.ts faults', seconds: 180, after },
  { name: 'conformance', line: 'tsx scripts/conformance.ts', seconds: 40, after },
  { name: 'mail', line: 'tsx scripts/check.ts mail', seconds: 30, after },
  { name: 'charges', line: 'tsx scripts/check.ts charges --cycles 10', seconds: 30, after },
  {
    name: 'questions',
    line: 'tsx scripts/check.ts questions --questions 500',
    seconds: 20,
    after,
  },
  {
    name: 'export',
    line: 'tsx scripts/check.ts export --rows 400000 --breaks 2',
    seconds: 60,
    after,
  },
  {
    name: 'reload',
    line: 'tsx scripts/check.ts reload --refreshes 2 --edits 2 --bad 2 --clients 4',
    seconds: 60,
    after,
  },
  {
    name: 'replicas',
    line: 'tsx scripts/check.ts replicas --seconds 16 --kill-seconds 3 --clients 8',
    seconds: 40,
    after,
  },
  {
    name: 'soak',
    line: 'tsx scripts/check.ts soak --requests 6000 --lives 2',
    seconds: 20,
    after,
  },
  {
    name: 'load',
    line: 'tsx scripts/check.ts load --rows 7000 --seconds 2 --scanners 8',
    seconds: 20,
    after,
  },
  { name: 'simulate', line: 'npm run simulate -- --seeds 1..20 --days 30', seconds: 60 },
  { name: 'sbom', line: 'npm run --silent sbom > .checks/sbom.json', seconds: 5 },
]

/** The list of `npm run check:must`. */
export const must: StepList = { name: 'must', steps, atOnce: 2 }
