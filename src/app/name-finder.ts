import { CallThread } from '../call-thread.js'
import { badRequest, unavailable } from '../errors.js'
import type { FindExplanation, FindQuestion, Match } from '../names/find-names.js'
import type { NameFinder } from '../service/find-place.js'
import type { FileChecks } from '../versions/store/file-checks.js'
import type { StoredFile } from '../versions/version.js'

/** One question to an index of names. */
export interface NameCall {
  readonly path: string
  readonly question: FindQuestion
  readonly kind: 'find' | 'explain'
}

export type NameReply = readonly Match[] | FindExplanation

/** Questions that wait for the thread; more are refused. */
const waitingMax = 200
/** Of one client, so that others are soon asked. */
const waitingOfClientMax = 8

/** Asks indexes of names on a thread of its own. */
export class ThreadNameFinder implements NameFinder {
  readonly #thread = new CallThread<NameCall, NameReply>(
    new URL('./name-worker.js', import.meta.url),
    'finds names',
  )
  readonly #checks: Pick<FileChecks, 'isVerified' | 'verify' | 'reportDamage'>
  /** Client → its questions that wait. */
  readonly #waiting = new Map<string, number>()
  #isClosed = false

  /** `checks` verifies an index before it is first asked, and hears of one that can't be read. */
  constructor(checks: Pick<FileChecks, 'isVerified' | 'verify' | 'reportDamage'>) {
    this.#checks = checks
  }

  readonly find: NameFinder['find'] = (index, question, client) =>
    this.#inTurn(index, { path: index.path, question, kind: 'find' }, client) as Promise<
      readonly Match[]
    >

  readonly explain: NameFinder['explain'] = (index, question, client) =>
    this.#inTurn(
      index,
      { path: index.path, question, kind: 'explain' },
      client,
    ) as Promise<FindExplanation>

  /** Ends the thread; waiting callers get an error. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread.close()
  }

  async #inTurn(index: StoredFile, call: NameCall, client: string): Promise<NameReply> {
    const own = this.#waiting.get(client) ?? 0
    if (own >= waitingOfClientMax || this.#thread.waiting >= waitingMax) {
      throw unavailable('Too many searches are waiting. Try again in 5 s.', 5)
    }
    this.#waiting.set(client, own + 1)
    try {
      return await this.#ask(index, call)
    } finally {
      const left = (this.#waiting.get(client) ?? 1) - 1
      if (left > 0) this.#waiting.set(client, left)
      else this.#waiting.delete(client)
    }
  }

  async #ask(index: StoredFile, call: NameCall): Promise<NameReply> {
    const isIntact =
      this.#checks.isVerified(index) || (await this.#checks.verify(index)) === 'intact'
    if (!isIntact) throw unavailable(madeAgainText, 5)
    try {
      return await this.#thread.call(call)
    } catch (cause) {
      const { code = '', message } = cause as NodeJS.ErrnoException
      if (code === 'bad_request') throw badRequest(message)
      // Another format, or arrays that do not fit, are damage as well.
      if (this.#isClosed || code.startsWith('ERR_WORKER_')) throw cause
      this.#checks.reportDamage(index)
      throw unavailable(madeAgainText, 5, cause)
    }
  }
}

const madeAgainText = 'The index of names is made again. Try again in 5 s.'
