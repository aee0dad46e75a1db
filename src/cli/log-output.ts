import type { Output } from './parts.js'

/** Where the log goes. Lines of one turn of the event loop are written together at its end. */
export class LogOutput {
  readonly #output: Output
  #lines: string[] = []

  constructor(output: Output) {
    this.#output = output
  }

  write(line: string): void {
    if (this.#lines.push(line) === 1) setImmediate(() => this.flushSync())
  }

  /** Writes what waits; pino calls it after a fatal line, with which the process may end. */
  flushSync(): void {
    const lines = this.#lines
    this.#lines = []
    if (lines.length > 0) this.#output.write(lines.join(''))
  }
}
