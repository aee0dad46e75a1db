/** The first entities found, in order of their numbers, each with one reading. */
class FirstEntities {
  readonly #max: number
  readonly entities: number[] = []
  readonly readings: number[] = []

  constructor(max: number) {
    this.#max = max
  }

  isBeyond(entity: number): boolean {
    return this.entities.length === this.#max && entity > (this.entities.at(-1) ?? 0)
  }

  add(entity: number, reading: number): void {
    if (this.isBeyond(entity)) return
    let at = this.entities.length
    while (at > 0 && (this.entities[at - 1] ?? 0) > entity) at--
    if (this.entities[at - 1] === entity) return
    this.entities.splice(at, 0, entity)
    this.readings.splice(at, 0, reading)
    if (this.entities.length <= this.#max) return
    this.entities.pop()
    this.readings.pop()
  }
}

/** How well a name meets a question, best first; with n edits: `edited` + n - 1. */
export const grades = Object.freeze({ exact: 0, prefix: 1, words: 2, edited: 3 })

export interface Found {
  readonly grade: number
  readonly reading: number
}

/** The best entities of every grade, up to a number. */
export class BestEntities {
  readonly #max: number
  readonly #byGrade: FirstEntities[] = []

  constructor(max: number) {
    this.#max = max
  }

  get isEmpty(): boolean {
    return this.#byGrade.length === 0
  }

  /** Whether this entity can't come among the best, however well it matches. */
  isBeyond(entity: number): boolean {
    return this.#byGrade[grades.exact]?.isBeyond(entity) ?? false
  }

  add(grade: number, entity: number, reading: number): void {
    const own = (this.#byGrade[grade] ??= new FirstEntities(this.#max))
    own.add(entity, reading)
  }

  /** Each entity once, where it is best. Of those with edits only the ones with the fewest. */
  all(): readonly Found[] {
    const found: Found[] = []
    const seen = new Set<number>()
    for (const [grade, list] of this.#byGrade.entries()) {
      // A sparse array: grades without entities are undefined.
      for (const [at, entity] of ((list as FirstEntities | undefined)?.entities ?? []).entries()) {
        if (!seen.has(entity)) found.push({ grade, reading: list.readings[at] ?? 0 })
        seen.add(entity)
      }
      if (grade >= grades.edited && found.length > 0) break
    }
    return found.slice(0, this.#max)
  }
}
