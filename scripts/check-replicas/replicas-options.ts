import { seed, toggle, whole } from '../harness/options.js'
import type { OptionValues } from '../harness/options.js'

const outageSecondsMax = 20
const outageShare = 4

const options = {
  replicas: whole('servers over one PostgreSQL', 3, 2, 16),
  clients: whole('clients that walk at the same time', 32, 1, 256),
  seconds: whole('seconds in which they walk', 120, 8, 86_400),
  killSeconds: whole('seconds from one kill to the next', 5, 1, 3600),
  seed: seed("repeats a run's walks and kills"),
  json: toggle('the summary as JSON'),
}

/** What the command line asks for. */
export type Options = OptionValues<typeof options>

/** How long PostgreSQL is away. */
export function outageSecondsOf({ seconds }: Pick<Options, 'seconds'>): number {
  return Math.min(outageSecondsMax, Math.floor(seconds / outageShare))
}

/** `npm run check:replicas`. */
export const command = {
  name: 'check-replicas',
  usage: 'npm run check:replicas --',
  about: `Starts a PostgreSQL, built servers over one registry, and nginx in front of them. Clients walk
through nginx with cursors while one server after another is killed (SIGKILL) and started again. In
the middle, PostgreSQL is stopped for ${outageSecondsMax} seconds, or a quarter of --seconds. Checks that
  1  no subscription received more rows than PostgreSQL has charged
  2  rows charged in vain are those of answers that were lost: no more than the requests that failed
     or that nginx passed on, and no more than one page a client for each kill and outage
  3  every walk ends, with each row once, in order and right
  4  a request that a kill breaks succeeds when it is sent again once
  5  without PostgreSQL every question gets 503 and no row; then every server serves again by itself
It needs nginx and PostgreSQL (Debian's nginx-light and postgresql). The exit code is 1 when a rule
is broken; the folder is then kept.`,
  options,
  footer: 'Example: npm run check:replicas -- --seconds 20 --clients 8 --seed 7',
}
