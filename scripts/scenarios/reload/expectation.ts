import { Fault } from '../../harness/fault.js'
import type { Evidence } from '../parts/rows.js'

/** The generations that each year may have, in the order of the years: several in a change. */
type Mix = readonly (readonly number[])[]

/**
 * What may be served of one dataset: any mix of generations that was on the disk at one time, but
 * to a new question never an older one than was served before. A version is one mix.
 */
export class Expectation {
  readonly #years: readonly number[]
  readonly #mixes: Mix[] = []
  readonly #versions = new Map<string, Map<number, number>>()
  #floor = 0

  constructor(years: readonly number[], first: number) {
    this.#years = years
    this.#mixes.push(years.map(() => [first]))
  }

  get versions(): number {
    return this.#versions.size
  }

  /** A question that begins now must not be answered from an older mix. */
  get floor(): number {
    return this.#floor
  }

  /** Must be called before one year's file is replaced. */
  willHold(year: number, generation: number): void {
    const isThis = (at: number) => this.#years[at] === year
    this.#mixes.push(this.#newest.map((was, at) => (isThis(at) ? [generation] : was)))
  }

  /** Must be called before all files are replaced in any order; the function returned, after it. */
  willHoldAll(generation: number): () => void {
    this.#mixes.push(this.#newest.map((was) => [...was, generation]))
    return () => {
      this.#mixes.push(this.#years.map(() => [generation]))
    }
  }

  /**
   * Notes what an answer showed; `floor` is the one from before the question.
   * @throws Fault when it contradicts the disk, the version's other answers, or goes back
   */
  note(version: string, { generations }: Evidence, floor: number): void {
    const known = this.#versions.get(version) ?? new Map<number, number>()
    this.#versions.set(version, known)
    for (const [year, generation] of generations) {
      const before = known.get(year) ?? generation
      if (before !== generation) {
        throw new Fault(`version ${version} holds ${year} in generations ${before}, ${generation}`)
      }
      known.set(year, generation)
    }
    this.#place(version, known, floor)
  }

  /** True when an answer came from the files of now. */
  isNewest({ generations }: Evidence): boolean {
    return this.#fits(this.#newest, generations)
  }

  #place(version: string, generations: ReadonlyMap<number, number>, floor: number): void {
    const last = this.#mixes.findLastIndex((mix) => this.#fits(mix, generations))
    const shown = [...generations].map(([year, generation]) => `${year}: ${generation}`).join(', ')
    const wrong = `version ${version} (${shown})`
    if (last < 0) throw new Fault(`${wrong} is a mix that was never on the disk`)
    if (last < floor) throw new Fault(`${wrong} is served after a newer one`)
    if (floor < 0) return
    const first = this.#mixes.findIndex((mix) => this.#fits(mix, generations))
    this.#floor = Math.max(this.#floor, first)
  }

  get #newest(): Mix {
    return this.#mixes.at(-1) ?? []
  }

  #fits(mix: Mix, generations: ReadonlyMap<number, number>): boolean {
    return this.#years.every((year, at) => {
      const generation = generations.get(year)
      return generation === undefined || (mix[at]?.includes(generation) ?? false)
    })
  }
}
