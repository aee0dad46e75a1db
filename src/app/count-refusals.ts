import { RefusalCounts } from '../control/refusals.js'
import type { ControlStore } from '../control/store/store.js'
import { errorCodes } from '../errors.js'
import type { OnRequest } from '../http/request-log.js'
import type { ServerBase } from './server-base.js'

/** What counts refused requests for the owner's report. */
export function openRefusals({ clock, logger }: ServerBase, store: ControlStore): RefusalCounts {
  return new RefusalCounts({
    store,
    clock,
    report: (cause) => {
      logger.warn({ err: cause }, 'refused requests are not counted for now; the counts wait')
    },
  })
}

/** Counts each request that a path of this service refused, and passes all on. */
export function countRefusals(refusals: RefusalCounts, onRequest: OnRequest): OnRequest {
  return (line) => {
    onRequest(line)
    const code = errorCodes.find((each) => each === line.outcome)
    // Programs that look for weak servers ask for unknown paths all day.
    if (code && line.door !== 'none') refusals.note(code)
  }
}
