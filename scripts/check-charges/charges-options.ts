import { seed, toggle, whole } from '../harness/options.js'
import type { OptionValues } from '../harness/options.js'

const options = {
  cycles: whole('kills', 500, 1, 100_000),
  clients: whole('clients that ask at the same time', 16, 1, 256),
  seed: seed("repeats a run's questions and delays"),
  json: toggle('the summary as JSON'),
}

/** What the command line asks for. */
export type Options = OptionValues<typeof options>

/** `npm run check:charges`. */
export const command = {
  name: 'check-charges',
  usage: 'npm run check:charges --',
  about: `Kills the built server again and again while clients read, and checks after every kill that
  delivered ≤ charged ≤ attempted
for each subscription and dataset, that no quota is exceeded, that no charge is lost and that the
database is intact; and, in one phase before the kills and one after them, that without a crash
charged = delivered.
Half of the questions ask for pages, the others for aggregates and tops. A row of an answer that a
kill cut off counts as delivered when it arrived, an aggregate with its whole cost when one group of
it did. The explanation of an empty answer over MCP counts as the row that it costs.
The exit code is 1, with the counter-example, when the rule is broken; the folder is then kept.`,
  options,
  footer: 'Example: npm run check:charges -- --cycles 20 --seed 7',
}
