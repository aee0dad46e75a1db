import { writeFile } from 'node:fs/promises'
import type { Message } from '../harness/http.js'
import type { Run } from '../harness/script.js'
import { median, sum } from '../harness/statistics.js'
import { startWorker } from '../harness/worker.js'
import { faultsIn } from './compare.js'
import type { Given } from './compare.js'
import type { Contestant, Field } from './field.js'
import type { Facts } from './data.js'
import type { LoadOrder, LoadReply } from './load-child.js'
import { messageOf } from './messages.js'
import type { Place } from './messages.js'
import { busySummaryOf, cold, lookUpOf, scanOf, walkQuestion, workloads } from './questions.js'
import type { Question, Workload } from './questions.js'
import { Walk } from './walk.js'

/** A line of the table: one figure of each contestant that has it. */
export interface Line {
  readonly name: string
  readonly title: string
  readonly unit: 'ms' | 's' | '/s' | '×' | 'MB'
  /** By the contestant's name. */
  readonly figures: Readonly<Record<string, number>>
}

/** What was measured. */
export interface Measured {
  readonly lines: readonly Line[]
  /** What no figure says. */
  readonly notes: readonly string[]
  /** Wrong answers and failures: who, where, what. */
  readonly faults: readonly string[]
}

/** All that `--only` can choose from. */
export const parts: readonly string[] = [...workloads.map(({ name }) => name), 'W6', 'W7', 'cold']

/** What is asked, and how often. */
export interface MeasureOptions {
  readonly only: readonly string[]
  readonly rounds: number
  /** Of W6. */
  readonly pages: number
  /** Of W7, for each server. */
  readonly seconds: number
}

/** Rounds that are not counted: they open what the later ones find open. */
const warmUps = 3
const connections = 16
const warmUpSeconds = 2
const loadQuestions = 5000
const sampleEveryMs = 1000
/** First and last pages that are asked for again in turns. */
const repeats = 20

/** Asks all contestants everything that is chosen, in turns, and compares their answers. */
export class Measurement {
  readonly #field: Field
  readonly #facts: Facts
  readonly #options: MeasureOptions
  readonly #run: Run
  readonly #lines: Line[] = []
  readonly #notes: string[] = []
  readonly #faults = new Map<string, string>()
  /** They are not asked again in this part. */
  #failed = new Set<string>()

  constructor(field: Field, facts: Facts, options: MeasureOptions, run: Run) {
    this.#field = field
    this.#facts = facts
    this.#options = options
    this.#run = run
  }

  async all(): Promise<Measured> {
    const { only } = this.#options
    // The first: a program that was compiled a moment ago answers hundreds of questions slowly.
    if (only.includes('W7')) await this.#loads()
    for (const workload of workloads.filter(({ name }) => only.includes(name))) {
      const hasWords = this.#facts.words.length > 0
      if (hasWords || workload.name !== 'contains') await this.#workload(workload)
    }
    if (only.includes('W6')) await this.#walk()
    // The last: it starts the servers again.
    if (only.includes('cold')) await this.#cold()
    const faults = [...this.#faults].map(([who, what]) => `${who}: ${what}`)
    return { lines: this.#lines, notes: this.#notes, faults }
  }

  #line(name: string, title: string, unit: Line['unit'], figures: Iterable<[string, number]>) {
    this.#lines.push({ name, title, unit, figures: Object.fromEntries(figures) })
  }

  /** Asks everybody the same in each round, in an order that rotates. */
  async #workload(workload: Workload, warm = warmUps, before?: () => Promise<void>) {
    const { name, title, isWhole, rarer, questionOf } = workload
    const { das, contestants } = this.#field
    const rounds = Math.max(3, Math.ceil(this.#options.rounds / rarer))
    const times = new Map(contestants.map((each) => [each.name, [] as number[]]))
    const syncsBefore = await das?.syncs()
    this.#failed = new Set()
    for (let round = 0; round < warm + rounds; round++) {
      this.#run.update(`${name}, round ${round + 1} of ${warm + rounds}`, round === 0)
      const question = questionOf(this.#facts, round)
      const given: Given[] = []
      for (const contestant of rotated(contestants, round)) {
        await before?.()
        const answer = await this.#ask(name, contestant, question)
        if (!answer) continue
        given.push({ contestant, rows: answer.rows })
        if (round >= warm) times.get(contestant.name)?.push(answer.ms)
      }
      this.#compare(name, question, isWhole, given)
    }
    const asked = [...times].filter(([, ms]) => ms.length > 0)
    this.#line(
      name,
      title,
      'ms',
      asked.map(([who, ms]) => [who, median(ms)]),
    )
    if (name === 'W1' && das && syncsBefore) {
      const { count, seconds } = await das.syncs()
      const ms = (1000 * (seconds - syncsBefore.seconds)) / (count - syncsBefore.count)
      this.#notes.push(`W1: of das's time, ${ms.toFixed(2)} ms are the sync of the charge (mean).`)
    }
  }

  /** Null where it can't be asked that, or has failed. */
  async #ask(where: string, contestant: Contestant, question: Question, place: Place = null) {
    if (this.#failed.has(contestant.name)) return null
    try {
      return await contestant.ask(question, place)
    } catch (cause) {
      this.#run.cleanup.signal.throwIfAborted()
      this.#failed.add(contestant.name)
      this.#fault(contestant.name, where, String(cause))
      return null
    }
  }

  #compare(where: string, question: Question, isWhole: boolean, given: readonly Given[]) {
    for (const [name, what] of faultsIn(question, isWhole, given)) this.#fault(name, where, what)
  }

  /** The first one of each contestant and part. */
  #fault(name: string, where: string, what: string) {
    const who = `${name}, ${where}`
    if (!this.#faults.has(who)) this.#faults.set(who, what)
  }

  /** W6: everybody walks in its own way, page by page in turns; then first and last pages again. */
  async #walk() {
    const { pages } = this.#options
    this.#failed = new Set()
    const walks = this.#field.contestants
      .filter(({ server }) => server !== null)
      .map((contestant) => new Walk(contestant))
    for (let page = 0; page < pages; page++) {
      this.#run.update(`W6, page ${page + 1} of ${pages}`, page === 0)
      const given: Given[] = []
      for (const walk of rotated(walks, page)) {
        if (walk.isOver) continue
        const answer = await this.#ask('W6', walk.contestant, walkQuestion, walk.place)
        if (!answer) continue
        walk.goOn(answer)
        given.push({ contestant: walk.contestant, rows: answer.rows })
      }
      this.#compare('W6', walkQuestion, false, given)
    }
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (const { contestant, last, firstMs, lastMs } of rotated(walks, repeat)) {
        firstMs.push((await this.#ask('W6', contestant, walkQuestion))?.ms ?? NaN)
        lastMs.push((await this.#ask('W6', contestant, walkQuestion, last))?.ms ?? NaN)
      }
    }
    for (const { contestant, rows, keys, times } of walks) {
      const due = Math.min(times.length * walkQuestion.limit, this.#facts.rows)
      const what = `${rows} rows, ${keys.size} different ones, of ${due}`
      if (rows !== due || keys.size !== due) this.#fault(contestant.name, 'W6: a walk', what)
    }
    const figures = (of: (walk: Walk) => number): [string, number][] =>
      walks.map((walk) => [walk.contestant.name, of(walk)])
    this.#line(
      'W6',
      `a walk of ${pages} pages`,
      's',
      figures(({ times }) => sum(times) / 1000),
    )
    const title = 'last page ÷ first'
    this.#line(
      'W6',
      title,
      '×',
      figures((walk) => median(walk.lastMs) / median(walk.firstMs)),
    )
  }

  /** W7: look-ups from 16 connections; of das also beside a client that scans and one that sums up. */
  async #loads() {
    const program = new URL('load-child.ts', import.meta.url)
    const clients = startWorker<LoadOrder, LoadReply>(program, this.#run.cleanup)
    const found: [string, LoadReply & { readonly peakBytes: number }][] = []
    const beside: [string, LoadReply][] = []
    for (const { name, server } of this.#field.contestants) {
      if (!server) continue
      const { service, dialect, dataset, token } = server
      const messages = Array.from({ length: loadQuestions }, (_, at) =>
        messageOf(dialect, dataset, lookUpOf(this.#facts, at)),
      ).filter((message) => message !== null)
      const measured = { token, messages, connections }
      const base = service.base()
      const { seconds } = this.#options
      this.#run.update(`W7, ${name}, ${seconds} s`)
      const warmUp = Math.min(warmUpSeconds, seconds)
      await clients.send({ base, streams: [measured], seconds: warmUp })
      const samples: number[] = []
      const sampling = setInterval(() => samples.push(service.memory()), sampleEveryMs)
      const reply = await clients.send({ base, streams: [measured], seconds })
      clearInterval(sampling)
      found.push([name, { ...reply, peakBytes: Math.max(service.memory(), ...samples) }])
      const { das } = this.#field
      if (service === das) {
        this.#run.update(`W7, ${name}, beside others, ${seconds} s`)
        const others = this.#besides(dataset).map((each) => {
          return { token: das.tokens[1], messages: each, connections: 1 }
        })
        const both = await clients.send({ base, streams: [measured, ...others], seconds })
        beside.push([name, both])
      }
    }
    for (const [name, { failure }] of [...found, ...beside]) {
      if (failure !== null) this.#fault(name, 'W7', failure)
    }
    type Figure = (reply: LoadReply) => number
    const line = (title: string, unit: Line['unit'], of: Figure, list = beside) =>
      this.#line(
        'W7',
        title,
        unit,
        list.map(([name, reply]) => [name, of(reply)]),
      )
    const names = `look-ups from ${connections} connections`
    line(names, '/s', ({ requestsPerSecond }) => requestsPerSecond, found)
    line('median', 'ms', ({ p50Ms }) => p50Ms, found)
    line('99th percentile', 'ms', ({ p99Ms }) => p99Ms, found)
    line('99th beside a scan and a summary', 'ms', ({ p99Ms }) => p99Ms)
    const ours = found.filter(([name]) => name.startsWith('das'))
    const peaks = ours.map(([name, { peakBytes }]): [string, number] => [name, peakBytes / 1e6])
    this.#line('W7', 'memory of the server at most', 'MB', peaks)
  }

  /** A client that scans, and one that asks for summaries. */
  #besides(dataset: string): readonly (readonly Message[])[] {
    const numbers = Array.from({ length: loadQuestions }, (_, at) => at)
    const scans = numbers.map((at) => messageOf('das', dataset, scanOf(this.#facts, at)))
    const summaries = numbers.map((at): Message => {
      return { method: 'GET', path: `/v1/${dataset}${busySummaryOf(this.#facts, at)}`, body: '' }
    })
    return [scans.filter((scan) => scan !== null), summaries]
  }

  /** W1 after all servers started again, with an empty page cache before each question. */
  async #cold() {
    try {
      await dropPageCache()
    } catch (cause) {
      this.#notes.push(`cold: left out, needs root on Linux: ${String(cause)}`)
      return
    }
    const services = new Set(this.#field.contestants.map(({ server }) => server?.service))
    for (const service of services) await service?.restart()
    await this.#field.das?.stallMs()
    await this.#workload(cold, 0, dropPageCache)
    const stallMs = await this.#field.das?.stallMs()
    if (stallMs !== undefined) {
      this.#notes.push(`cold: das's event loop was late by ${stallMs.toFixed(1)} ms at most.`)
    }
  }
}

/** The list, rotated by one more place in each round. */
function rotated<T>(list: readonly T[], round: number): readonly T[] {
  const at = list.length === 0 ? 0 : round % list.length
  return [...list.slice(at), ...list.slice(0, at)]
}

/** Makes the system forget the files that it has read: proc_sys_vm(5). */
function dropPageCache(): Promise<void> {
  return writeFile('/proc/sys/vm/drop_caches', '1')
}
