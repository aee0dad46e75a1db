import Database from 'better-sqlite3'
import { BestEntities, grades } from './best-entities.js'
import type { Found } from './best-entities.js'
import { PatternMaker } from './pattern-maker.js'
import type { Editing } from './pattern-maker.js'
import type { Pattern } from './pattern.js'
import { readNameQuestion } from './question.js'
import type { NameQuestion } from './question.js'
import { overlap } from './span.js'
import { StoredReadings } from './stored-readings.js'
import type { Sight } from './stored-readings.js'
import type { Word } from './words.js'
import { nameIndexFormat } from './write-names.js'

/** An entity that meets a question. */
export interface Match {
  readonly key: string
  /** Of the newest period of all its names that the caller sees; facts, periods and rank too. */
  readonly name: string
  readonly match: 'key' | 'exact' | 'prefix' | 'words' | 'typo'
  /** The name, alias or key that met the question. */
  readonly matched: string
  readonly facts: string
  /** The periods with this name that the caller sees. */
  readonly periods: number
  readonly rank: number | null
}

/** A question for an entity, and what the caller sees. */
export interface FindQuestion extends Sight {
  readonly q: string
  /** The key that `q` is, as rows show it; `q` itself if omitted. */
  readonly key?: string
  readonly limit: number
}

/** Why nothing was found. */
export interface FindExplanation {
  /** Words of the question, as typed, that no visible name has. */
  readonly nowhere: readonly string[]
  readonly nearest: readonly string[]
}

const nearestMax = 3
/** Edits beyond those of a typo, for the nearest names. */
const extraEditsMax = 2
/** The end of all texts that begin with a key. */
const textEnd = '\u{10ffff}'

const keySql = `SELECT key FROM named
  WHERE key >= ? AND key < ? AND (iif(?, demo_periods, periods) & ?) != 0
  GROUP BY key ORDER BY key != ?, max(rank) DESC NULLS LAST, key LIMIT ?`
const readingSql = `SELECT key, ifnull(alias, name) AS matched
  FROM reading JOIN named ON named.id = reading.named WHERE reading.id = ?`
const rowsSql = `SELECT name, iif(?, demo_periods, periods) AS periods, rank, facts FROM named
  WHERE key = ? ORDER BY id`

interface NamedRow {
  readonly name: string
  readonly periods: number
  readonly rank: number | null
  readonly facts: string
}

/** Finds entities by key or name in a file of `writeNameIndex`. Its names are in memory. */
export class NameIndex {
  readonly #db: Database.Database
  readonly #readings: StoredReadings
  readonly #patterns: PatternMaker
  readonly #keys: Database.Statement<[string, string, number, number, string, number], string>
  readonly #reading: Database.Statement<[number], { key: string; matched: string }>
  readonly #rows: Database.Statement<[number, string], NamedRow>

  private constructor(db: Database.Database) {
    this.#db = db
    this.#readings = new StoredReadings(db)
    this.#patterns = new PatternMaker(this.#readings.vocabulary)
    this.#keys = db
      .prepare<[string, string, number, number, string, number], string>(keySql)
      .pluck()
    this.#reading = db.prepare(readingSql)
    this.#rows = db.prepare(rowsSql)
  }

  /** @throws Error when the file is missing, damaged or of another format */
  static open(path: string): NameIndex {
    const db = new Database(path, { readonly: true, fileMustExist: true })
    try {
      const format = db.pragma('user_version', { simple: true })
      if (format !== nameIndexFormat) throw new Error(`a name index of format ${String(format)}`)
      return new NameIndex(db)
    } catch (error) {
      db.close()
      throw error
    }
  }

  /**
   * Entities that meet the question, the best match first, then by rank, largest first, then by
   * key.
   * Equal keys come before longer ones. Typos count only where nothing else is found, and only the
   * names with the fewest. `exact` is the same words in the same order, without legal forms.
   *
   * @throws ServiceError bad_request when the question is too long or has no letter or digit
   */
  find(question: FindQuestion): readonly Match[] {
    this.#patterns.begin()
    const words = readNameQuestion(question.q)
    const keys = this.#findKeys(question)
    const seen = new Set(keys.map(({ key }) => key))
    const found = this.#findNames(words, question, question.limit, keys.length === 0)
    const named = found.map(({ grade, reading }) => this.#named(grade, reading, question))
    return [...keys, ...named.filter(({ key }) => !seen.has(key))].slice(0, question.limit)
  }

  /**
   * For a question that found nothing: its words that no visible name has, and up to three visible
   * names that have the others, or similar ones.
   *
   * @throws ServiceError bad_request, as `find`
   */
  explain(question: FindQuestion): FindExplanation {
    this.#patterns.begin()
    const { typed, readings } = readNameQuestion(question.q)
    const known = typed.filter(
      (word) =>
        this.#findNames({ typed: [word], readings: [[word]] }, question, 1, true).length > 0,
    )
    const nowhere = typed.filter((word) => !known.includes(word)).map(({ written }) => written)
    const nearest = this.#nearest(readings[0] ?? typed, known, question)
    return { nowhere, nearest }
  }

  #nearest(words: readonly Word[], known: readonly Word[], question: FindQuestion) {
    const longestFirst = [...known].sort((left, right) => right.text.length - left.text.length)
    for (const some of [known, ...longestFirst.map((word) => [word])]) {
      const found = this.#findNames({ typed: some, readings: [some] }, question, nearestMax, true)
      if (found.length > 0) return this.#namesOf(found, question)
    }
    for (let extra = 1; extra <= extraEditsMax; extra++) {
      const best = new BestEntities(nearestMax)
      this.#collect(this.#patterns.edited(words, 'words', extra), question, best)
      if (!best.isEmpty) return this.#namesOf(best.all(), question)
    }
    return []
  }

  #namesOf(found: readonly Found[], sight: Sight): readonly string[] {
    const names = found.map(({ grade, reading }) => this.#named(grade, reading, sight).matched)
    return [...new Set(names)]
  }

  #findKeys({ q, key = q.trim(), limit, window, isDemo }: FindQuestion): readonly Match[] {
    const text = q.trim()
    const between = (first: string, end: string) =>
      this.#keys.all(first, end, Number(isDemo), window, key, limit)
    // 7 is asked for as 007.
    const other = key.startsWith(text) ? [] : between(key, `${key}\0`)
    const keys = [...other, ...between(text, `${text}${textEnd}`)]
    return keys.map((found) => this.#matchOf(found, 'key', found, { window, isDemo }))
  }

  /**
   * Tries the readings of a question in turn, until one finds something; with edits first the one
   * of which names lack the fewest words.
   */
  #findNames(
    { readings }: NameQuestion,
    sight: Sight,
    max: number,
    allowTypos: boolean,
  ): readonly Found[] {
    const unknown = readings.map((words) => this.#patterns.unknown(words))
    const likely = readings[unknown.indexOf(Math.min(...unknown))] ?? []
    const others = readings.filter((each) => each !== likely)
    const edited = (editing: Editing) => () => this.#patterns.edited(likely, editing)
    const tries: (() => readonly Pattern[])[] = [
      ...readings.map((each) => () => this.#patterns.plain(each)),
      ...(allowTypos ? [edited('unknown words')] : []),
      ...readings.map((each) => () => this.#patterns.abbreviated(each)),
      ...(allowTypos ? [edited('endings'), edited('words')] : []),
      ...(allowTypos ? [() => this.#patterns.editedSplits(likely)] : []),
      ...(allowTypos ? [edited('beginnings')] : []),
      ...(allowTypos
        ? others.map((each) => () => this.#patterns.edited(each, 'unknown words'))
        : []),
    ]
    for (const patterns of tries) {
      const best = new BestEntities(max)
      this.#collect(patterns(), sight, best)
      if (!best.isEmpty) return best.all()
    }
    return []
  }

  #collect(patterns: readonly Pattern[], sight: Sight, best: BestEntities): void {
    for (const pattern of patterns) this.#readings.collect(pattern, sight, best)
  }

  #named(grade: number, reading: number, sight: Sight): Match {
    const { key, matched } = this.#reading.get(reading) ?? { key: '', matched: '' }
    return this.#matchOf(key, matchOf(grade), matched, sight)
  }

  #matchOf(key: string, match: Match['match'], matched: string, sight: Sight): Match {
    const rows = this.#rows
      .all(Number(sight.isDemo), key)
      .map((row) => ({ ...row, periods: overlap(row.periods, sight.window) }))
    // The larger mask has the newer period.
    const newest = rows.reduce((left, right) => (right.periods > left.periods ? right : left))
    return { key, match, matched, ...newest }
  }

  close(): void {
    this.#db.close()
  }
}

function matchOf(grade: number): Match['match'] {
  if (grade === grades.exact) return 'exact'
  if (grade === grades.prefix) return 'prefix'
  return grade === grades.words ? 'words' : 'typo'
}
