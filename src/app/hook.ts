/** Calls a part that is built later. Before that part is connected, a call does nothing. */
export class Hook<Result> {
  #connected: () => Result

  /** `nothing` returns what a call returns before a part is connected. */
  constructor(nothing: () => Result) {
    this.#connected = nothing
  }

  readonly call = (): Result => this.#connected()

  connect(part: () => Result): void {
    this.#connected = part
  }
}
