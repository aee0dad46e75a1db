import type { Random as Secrets } from '../../../src/random.js'
import type { Random } from '../../harness/random.js'
import { randomOf } from '../../harness/random.js'
import { MovingClock } from '../../../test/support/moving-clock.js'

/** The simulated process was killed: nothing that it still asks for takes effect. */
export class Killed extends Error {
  override readonly name = 'Killed'
}

/** What a process does that a kill can come before. */
export type StepKind = 'statement' | 'file' | 'engine' | 'letter'

/** When a process is killed: before its step of this number and kind, from now on. */
export interface Kill {
  readonly kind: StepKind
  readonly step: number
}

/** Work outside JavaScript whose end the process has not seen yet. */
interface Held {
  /** Null while it runs. */
  deliver: (() => void) | null
}

/** How long a promise may stay open, by the simulated clock. */
const patienceMs = 10 * 60_000
const timersMax = 20_000

/**
 * The machine that the service runs on: clock, random numbers, and every statement, file operation
 * and letter. Work outside JavaScript ends in an order of the seed, and only when nothing else can
 * go on; time moves only when no such work is left. So a run is the same each time.
 */
export class Machine {
  clock: MovingClock
  random: Random
  isDiskFull = false
  /** All steps so far. */
  steps = 0
  /** Hooks only watch the service, not the simulation itself. */
  isWatching = false
  kills: Partial<Record<StepKind, number>> = {}
  /** The write in which the process was killed is done by half. */
  isTorn = false
  #kill: Kill | null = null
  #isDead = false
  #killedAt = ''
  #held: Held[] = []
  /** Closes what a killed process leaves open. */
  readonly #remains = new Map<object, () => void>()

  constructor() {
    this.clock = new MovingClock(0)
    this.random = randomOf(0)
  }

  /** Begins another run. */
  reset(startMs: number): void {
    this.clock = new MovingClock(startMs)
    this.random = randomOf(0)
    this.isDiskFull = false
    this.kills = {}
  }

  /** The random numbers that the service uses as secrets. */
  readonly secrets: Secrets = {
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => this.random.whole(0, 255))),
    below: (limit) => this.random.whole(0, limit - 1),
    uuid: () => uuidOf(this.secrets.bytes(16)),
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** The step before which the process was killed. */
  get killedAt(): string {
    return this.#killedAt
  }

  /** Kills the process soon; null = it lives on. */
  killAt(kill: Kill | null): void {
    this.#kill = kill
  }

  /** Called before each step, with its name. @throws Killed from the kill on */
  step(kind: StepKind, what: () => string): void {
    if (!this.isWatching) return
    if (!this.#isDead) {
      this.steps += 1
      if (this.#kill?.kind !== kind) return
      this.#kill = { kind, step: this.#kill.step - 1 }
      if (this.#kill.step > 0) return
      this.#isDead = true
      this.#killedAt = what()
      this.kills[kind] = (this.kills[kind] ?? 0) + 1
    }
    throw new Killed(what())
  }

  /** Registers how to close what a killed process leaves open. */
  opened(what: object, close: () => void): void {
    if (this.isWatching) this.#remains.set(what, close)
  }

  /** The process has closed it by itself. */
  closed(what: object): void {
    this.#remains.delete(what)
  }

  /** Starts work outside JavaScript; the process sees its end when the machine is idle. */
  hold<T>(work: () => Promise<T>): Promise<T> {
    if (!this.isWatching) return work()
    return new Promise((resolve, reject) => {
      const held: Held = { deliver: null }
      // A dead process never sees an end.
      if (this.#isDead) return
      this.#held.push(held)
      work().then(
        (result) => {
          held.deliver = () => resolve(result)
        },
        (cause: unknown) => {
          held.deliver = () => reject(cause instanceof Error ? cause : new Error(String(cause)))
        },
      )
    })
  }

  /** The outcome of what the process does now; time passes only where it waits. @throws Killed */
  async outcome<T>(work: Promise<T>): Promise<T> {
    let end: (() => T) | undefined
    work.then(
      (result) => {
        end = () => result
      },
      (cause: unknown) => {
        end = () => {
          throw cause
        }
      },
    )
    const startMs = this.clock.monotonicMs()
    for (let timers = 0; ;) {
      await this.#rest()
      if (end) return end()
      const leftMs = patienceMs - (this.clock.monotonicMs() - startMs)
      if (++timers > timersMax || !this.clock.runNext(leftMs)) throw new Error('it never ends')
    }
  }

  /** Lets time pass, then ends all work that is due. @throws Killed */
  async pass(ms: number): Promise<void> {
    this.clock.pass(ms)
    for (let timers = 0; timers < timersMax; timers++) {
      await this.#rest()
      if (!this.clock.runNext(0)) return
    }
    throw new Error('timers never end')
  }

  /**
   * Ends the process, which was killed or has stopped: what it left open is closed. `keep` is called
   * before, and what it returns afterwards, because closing a database changes its files.
   */
  async bury(keep: () => () => void): Promise<void> {
    this.#isDead = true
    this.clock.clear()
    do {
      this.#held = []
      await idle()
    } while (this.#held.length > 0)
    this.isWatching = false
    const putBack = keep()
    for (const close of [...this.#remains.values()].reverse()) close()
    this.#remains.clear()
    await idle()
    putBack()
  }

  /** A new process begins. */
  revive(): void {
    this.#isDead = false
    this.isTorn = false
    this.#kill = null
    this.#killedAt = ''
    this.#held = []
    this.clock.clear()
    this.isWatching = true
  }

  /** Does something beside the process, which the hooks do not watch. Must not wait. */
  aside<T>(work: () => T): T {
    const wasWatching = this.isWatching
    this.isWatching = false
    try {
      return work()
    } finally {
      this.isWatching = wasWatching
    }
  }

  /** The same for work that waits: the process rests meanwhile. */
  async beside<T>(work: () => Promise<T>): Promise<T> {
    const wasWatching = this.isWatching
    this.isWatching = false
    try {
      return await work()
    } finally {
      this.isWatching = wasWatching
    }
  }

  /** Until nothing goes on any more without time. @throws Killed */
  async #rest(): Promise<void> {
    for (;;) {
      await idle()
      if (this.#isDead) throw new Killed(this.#killedAt)
      const ended = this.#held.filter(({ deliver }) => deliver !== null)
      if (ended.length === 0) return
      const chosen = this.random.oneOf(ended)
      this.#held = this.#held.filter((held) => held !== chosen)
      chosen.deliver?.()
    }
  }
}

/** Resolves when the event loop has no work left: Node would end the process now. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    process.once('beforeExit', () => setImmediate(resolve))
  })
}

function uuidOf(bytes: Buffer): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)]
  return `${parts.join('-')}-${hex.slice(20)}`
}
