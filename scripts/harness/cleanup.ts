import type { Child } from './process.js'

/** What has to be ended, however the run goes. */
export class Ends {
  readonly #closers: (() => Promise<void>)[] = []
  readonly #children: Child[] = []
  #isStopping = false

  /** A signal came: nothing more is started, and what runs is told to end. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Notes how to end something. */
  add(close: () => Promise<void>): void {
    this.#closers.push(close)
  }

  /** Notes a program that was started. */
  addChild(child: Child): void {
    this.#children.push(child)
    this.add(child.stop)
    if (this.#isStopping) void child.stop()
  }

  /** Ends all programs, which makes the run fail and close the rest in its order. */
  stopChildren(): void {
    this.#isStopping = true
    for (const child of this.#children) void child.stop()
  }

  /** Ends everything, the last one first. */
  async closeAll(): Promise<void> {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) await close()
  }
}
