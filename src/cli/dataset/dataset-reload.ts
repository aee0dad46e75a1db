import type { Command } from 'commander'
import { recordAction } from '../../control/audit.js'
import type { AuditedAction } from '../../control/audit.js'
import { listDatasetStates, readRegistryState } from '../../control/dataset-state.js'
import {
  detailsOf,
  reloadProgress,
  requestReload,
  withdrawReload,
} from '../../control/reload-requests.js'
import { ServerLock } from '../../control/store/server-lock.js'
import type { ControlStore } from '../../control/store/store.js'
import { RegistryError } from '../../registry/registry.js'
import { didYouMean, quoted } from '../../text.js'
import { addPrinted } from '../command.js'
import type { Result } from '../command.js'
import type { CliParts } from '../parts.js'
import { controlUrlOf, withLocalStore, withStore } from '../state.js'
import { lockPath } from '../state-file.js'

const checkEveryMs = 100
/** A server checks for requests twice a second. */
const startedWithinMs = 10_000
/** Opening a large dataset reads every byte of it. */
const finishedWithinMs = 30 * 60_000

/** `das dataset reload`. */
export function addDatasetReload(group: Command, parts: CliParts): void {
  addPrinted(group, parts, {
    usage: 'reload [name]',
    description:
      'Make the running server load changes of the registry and the files now, and wait for the ' +
      'result. The server does so by itself within seconds; --force accepts what it refuses, ' +
      'with a name only of that dataset.',
    options: (command) =>
      command.option(
        '--force',
        'also load a delivery that loses rows or columns, repeats keys or has values too far ' +
          'ahead, the present content of a damaged file, and, without a name, a registry that ' +
          'drops datasets or plans of live subscriptions',
      ),
    settings: ['state'],
    json: 'print [{name, status, version, reason}]',
    examples: ['das dataset reload', 'das dataset reload financials --force'],
    run: ({ state }, flags, name: string | undefined) =>
      reload(parts, state, flags['force'] === true, name ?? null),
  })
}

async function reload(
  parts: CliParts,
  state: string,
  force: boolean,
  name: string | null,
): Promise<Result> {
  return await withLocalStore(parts, state, async (store) => {
    if (!ServerLock.isHeld(lockPath(state))) throw noServer()
    const now = parts.clock.now()
    const request = { force, dataset: force ? name : null }
    const id = await requestReload(store, request, now)
    const [subject, details] = [`reload ${id}`, detailsOf(request)]
    await share(parts, state, { action: 'reload.requested', subject, details, now })
    await finished(parts, state, store, id)
    return await resultOf(store, name)
  })
}

/** @throws Error when no server starts the reload, or the reload takes too long */
async function finished(
  parts: CliParts,
  state: string,
  store: ControlStore,
  id: number,
): Promise<void> {
  const start = parts.clock.monotonicMs()
  for (;;) {
    const progress = await reloadProgress(store, id)
    if (progress === 'finished') return
    const waitedMs = parts.clock.monotonicMs() - start
    const isLate = progress === 'waiting' && waitedMs > startedWithinMs
    if (isLate && (await withdrawReload(store, id, parts.clock.now()))) {
      const withdrawn = { action: 'reload.withdrawn', subject: `reload ${id}` } as const
      await share(parts, state, { ...withdrawn, now: parts.clock.now() })
      throw noServer()
    }
    if (waitedMs > finishedWithinMs) {
      throw new Error('The server is still reloading. das dataset list shows the result.')
    }
    await parts.clock.sleep(checkEveryMs)
  }
}

/**
 * Records in the PostgreSQL of several servers what was recorded in the file of this one. Only
 * warns if that fails: a server reloads without it.
 */
async function share(parts: CliParts, state: string, action: AuditedAction): Promise<void> {
  if (controlUrlOf(parts) === null) return
  try {
    await withStore(parts, state, (store) => recordAction(store, action))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    parts.stderr.write(`warning: das audit does not show this reload: ${why}\n`)
  }
}

function noServer(): Error {
  return new Error(
    'No server runs over this state folder. Start das serve, or name another folder with --state.',
  )
}

/** The states after the reload; it failed if the registry or a dataset is refused. */
async function resultOf(store: ControlStore, name: string | null): Promise<Result> {
  const all = await listDatasetStates(store)
  const states = name === null ? all : all.filter(({ dataset }) => dataset === name)
  if (name !== null && states.length === 0) {
    const names = all.map(({ dataset }) => dataset)
    throw new Error(`The server has no dataset ${quoted(name)}.${didYouMean(name, names)}`)
  }
  const lines = states.map(({ dataset, status, version, reason }) => {
    const what = version === null ? status : `${status} version ${version}`
    return `${dataset}: ${what}${reason === null ? '' : `; ${reason.split('\n').join('; ')}`}`
  })
  const refused = (await readRegistryState(store))?.reason ?? null
  const failed = states.filter(({ reason }) => reason !== null).length
  const isOutdated = new Error(`${failed} of ${states.length} datasets are not up to date.`)
  return {
    json: states.map(({ dataset, status, version, reason }) => ({
      name: dataset,
      status,
      version,
      reason,
    })),
    lines: lines.length > 0 ? lines : ['The registry lists no dataset.'],
    failure:
      refused !== null
        ? new RegistryError(['error: the server refuses the registry:', ...refused.split('\n')])
        : failed > 0
          ? isOutdated
          : undefined,
  }
}
