import { seed, toggle, whole } from '../harness/options.js'
import type { OptionValues } from '../harness/options.js'

const changesMax = 100_000

const options = {
  refreshes: whole('refreshes of phase 1', 100, 1, changesMax),
  edits: whole('registry edits of phase 1', 100, 0, changesMax),
  bad: whole('bad files of phase 1', 20, 0, changesMax),
  objects: toggle('200 objects in a store with the protocol of S3, instead of files'),
  breaks: whole('broken fetches of phase 5', 20, 0, changesMax),
  clients: whole('clients that ask at the same time', 16, 1, 256),
  secondsMax: whole('start nothing new after so many seconds', 1800, 1, 86_400),
  seed: seed("repeats a run's choices"),
}

/** What the command line asks for. */
export type Options = OptionValues<typeof options>

/** `npm run check:reload`. */
export const command = {
  name: 'check-reload',
  usage: 'npm run check:reload --',
  about: `Replaces files, edits the registry and drops bad files under the built server while clients read,
and checks every row of every answer:
  1  refreshes by rename, edits, bad files, half of them with pack: auto: no request may fail
  2  files overwritten in place: right rows, or 503 for a moment; no torn rows
  3  a server that can only read the sources, so that links are refused: copies (root on Linux)
  4  pack: auto switched on, SIGHUP, kill -9: walks continue where they were
  5  the line to the store breaks in the middle of a fetch: no request may fail
Files are replaced one after the other and all at once. Phases 2 and 3 are those of files, 5 is
that of --objects, which needs Go to build a server of objects, once.
The exit code is 1, with the counter-example, when a rule is broken; the folder is then kept.`,
  options,
  footer: 'Example: npm run check:reload -- --refreshes 10 --edits 10 --bad 5',
}
