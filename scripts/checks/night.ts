import type { Step, StepList } from './step.js'

const minute = 60
const tests = 'npm test -- --timeout=3600'
/** The newest line of Node.js that the package supports: test/clients/package.test.ts has the same. */
const node24 = '.checks/node-24'

/** Every check whole, then every benchmark. Each script builds the program before it runs. */
const steps: readonly Step[] = [
  { name: 'must', line: 'npm run check:must', seconds: 25 * minute },
  {
    name: 'node-24',
    line: `npm install --no-save --prefix ${node24} node-linux-$(node -p process.arch)@24.21.0 &&
      PATH="$PWD/${node24}/node_modules/node-linux-$(node -p process.arch)/bin:$PATH" \\
      tsx scripts/test.ts --timeout=900`,
    seconds: 10 * minute,
  },
  {
    name: 'loop',
    line: `${tests} test/night/loop.test.ts test/night/largest.test.ts`,
    seconds: 4 * minute,
  },
  { name: 'install', line: 'npm run check:install -- --all-tests', seconds: 15 * minute },
  { name: 'clients', line: 'CLIENTS_WHOLE=1 npm run test:clients', seconds: 10 * minute },
  { name: 'scale', line: 'npm run test:scale', seconds: 12 * minute },
  { name: 'pairs', line: 'npm run test:pairs', seconds: 40 * minute },
  {
    name: 'model',
    line: `DAS_MODEL_RUNS=2000 ${tests} test/io/access/subscriptions-model.test.ts \\
      test/io/access/orders-model.test.ts test/io/sign-in/connections-model.test.ts`,
    seconds: 15 * minute,
  },
  {
    name: 'random',
    line: `DAS_RUNS=20 ${tests} $(grep -rl support/runs.js test --include=*.test.ts) \\
      test/io/engine/contract.test.ts`,
    seconds: 60 * minute,
  },
  {
    name: 'changes',
    line: `DAS_MODEL_RUNS=500 ${tests} test/changes/changes-model.test.ts`,
    seconds: 60 * minute,
  },
  {
    name: 'webhooks',
    line: `DAS_HOOK_KILLS=500 ${tests} test/io/webhooks/killed.test.ts`,
    seconds: 60 * minute,
  },
  {
    name: 'summaries',
    line: `DAS_RUNS=170 ${tests} test/engine/summarize/summary-property.test.ts`,
    seconds: 15 * minute,
  },
  {
    name: 'simulate',
    line: 'npm run simulate -- --seeds 1..1000 --days 100',
    seconds: 180 * minute,
  },
  { name: 'charges', line: 'npm run check:charges', seconds: 20 * minute },
  {
    name: 'questions',
    line: 'npm run check:questions -- --questions 1000000 --clients 12',
    seconds: 180 * minute,
  },
  { name: 'faults', line: 'npm run check:faults -- --cycles 3', seconds: 12 * minute },
  { name: 'export', line: 'npm run check:export', seconds: 4 * minute },
  { name: 'reload', line: 'npm run check:reload', seconds: 15 * minute },
  { name: 'reload-objects', line: 'npm run check:reload -- --objects', seconds: 20 * minute },
  { name: 'replicas', line: 'npm run check:replicas', seconds: 3 * minute },
  { name: 'soak', line: 'npm run check:soak -- --lives 2', seconds: 65 * minute },
  { name: 'load', line: 'npm run check:load', seconds: 5 * minute },
  { name: 'difference', line: 'npm run check:difference', seconds: 10 * minute },
  { name: 'forms', line: 'npm run check:forms', seconds: 5 * minute },
  {
    name: 'bench',
    line: `python3 -m venv .venv-bench &&
      .venv-bench/bin/pip install --quiet -r scripts/bench/peers/requirements.txt &&
      npm run bench -- --rows 665000 --require`,
    seconds: 30 * minute,
  },
]

/** The list of `npm run check:night`. */
export const night: StepList = { name: 'night', steps, atOnce: 1 }
