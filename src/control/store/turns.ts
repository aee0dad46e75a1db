/** While a transaction of those that share these turns runs, statements of all of them wait. */
export class Turns {
  /** Resolves when the running transaction has ended. */
  #running: Promise<void> | undefined

  /** Runs `work` while no transaction runs. */
  async alone<T>(work: () => T): Promise<T> {
    while (this.#running !== undefined) await this.#running
    return work()
  }

  /** Runs a transaction while no other one runs. */
  async transact<T>(transaction: () => Promise<T>): Promise<T> {
    while (this.#running !== undefined) await this.#running
    const result = transaction()
    this.#running = Promise.allSettled([result]).then(() => {
      this.#running = undefined
    })
    return await result
  }
}
