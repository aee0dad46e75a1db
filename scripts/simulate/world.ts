import type { InjectOptions } from 'fastify'
import { hashToken } from '../../src/control/tokens/token-format.js'
import type { Random } from '../harness/random.js'
import type { Books } from './books.js'
import type { Answer, House } from './house.js'
import { Ledger } from './ledger.js'
import type { Machine } from './machine/machine.js'
import type { Post } from './post.js'
import { ownerNames } from './world-files.js'
import type { DatasetName, Edition, Files } from './world-files.js'

/** A token that a subscriber holds. */
export interface Token {
  /** The subscription's id, and the token's. */
  readonly subscription: string
  readonly secret: string
}

/** An agent that signed in with a token. */
export interface Agent {
  readonly subscription: string
  /** The token that it signed in with. */
  readonly token: Token
  readonly clientId: string
  access: string
  refresh: string
  accessUntil: number
}

/** A browser in which an owner signed in. */
export interface OwnerSession {
  readonly email: string
  /** What it sends as `Cookie`. */
  readonly cookie: string
  /** By the wall clock. */
  readonly until: number
}

/** The fields of a form; a name may have several values. */
export type Fields = readonly (readonly [string, string])[]

/** A walk by cursor, somewhere between its first page and its last. */
export interface Walk {
  readonly token: Token
  readonly dataset: DatasetName
  readonly limit: number
  readonly edition: Edition
  cursor: string
  /** The row that the next page begins with. */
  nextId: number
}

/** What became of a dataset's deliveries. */
export interface Delivered {
  /** Editions by number. */
  readonly editions: Map<number, Edition>
  /** When an edition was replaced, by the wall clock. */
  readonly replacedAt: Map<number, number>
  /** What may be served now: two after a delivery whose end is not known. */
  served: readonly number[]
  /** The file that lies in the folder is bad. */
  isBad: boolean
}

/** A promise of the service that did not hold. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise'
}

/** What is around the service, and what is known of it. */
export class World {
  readonly machine: Machine
  readonly house: House
  readonly post: Post
  readonly files: Files
  readonly ledger = new Ledger()
  /** Mail addresses of subscribers, and the subscriptions by address. */
  readonly tokens: Token[] = []
  readonly agents: Agent[] = []
  readonly walks: Walk[] = []
  readonly owners: OwnerSession[] = []
  /** Whom the registry names as owners. */
  ownerNames = ownerNames
  readonly delivered = new Map<DatasetName, Delivered>()
  /** Prices of orders by id, by the simulation's own arithmetic. */
  readonly prices = new Map<string, number>()
  /** The wall clock was set since then: times say little of how long something was kept. */
  steppedAt = -Infinity
  /** Of the event that runs. */
  random: Random
  /** Names for ids, in order of appearance. */
  readonly #names = new Map<string, string>()
  checks = 0
  /** How many letters the subscribers have read. */
  #opened = 0
  /** What was read last, after how many steps of the machine. */
  #read: { readonly steps: number; readonly books: Books } | null = null

  constructor(parts: Pick<World, 'machine' | 'house' | 'post' | 'files' | 'random'>) {
    this.machine = parts.machine
    this.house = parts.house
    this.post = parts.post
    this.files = parts.files
    this.random = parts.random
  }

  get now(): number {
    return this.machine.clock.ms
  }

  books(): Books {
    const { steps } = this.machine
    if (this.#read?.steps !== steps) {
      this.#read = { steps, books: this.house.books() }
    }
    return this.#read.books
  }

  /** A short name for a subscription or an order. */
  nameOf(id: string): string {
    const kind = id.slice(0, 3)
    const known = [...this.#names.values()].filter((name) => name.startsWith(kind)).length
    const name = this.#names.get(id) ?? `${kind}${known + 1}`
    this.#names.set(id, name)
    return name
  }

  /** A subscriber keeps a token that a page or a letter shows; the id of its subscription. */
  adopt(secret: string): string {
    const hash = hashToken(secret).toString('hex')
    const found = [...this.books().tokens.values()].find((each) => each.hash === hash)
    if (!found) throw new BrokenPromise('a token was shown that is not in the books')
    const isKnown = this.tokens.some((each) => each.secret === secret)
    if (!isKnown) this.tokens.push({ subscription: found.subscription, secret })
    return found.subscription
  }

  /** The same for all letters that came since the last time. */
  openLetters(): void {
    for (const { text } of this.post.letters.slice(this.#opened)) {
      const secret = tokenIn(text)
      if (secret !== null) this.adopt(secret)
    }
    this.#opened = this.post.letters.length
  }

  /** @throws BrokenPromise */
  require(holds: boolean, promise: string): void {
    this.checks += 1
    if (!holds) throw new BrokenPromise(promise)
  }

  /** One of a list, if there is any. */
  oneOf<T>(list: Iterable<T>): T | undefined {
    const all = [...list]
    return all.length === 0 ? undefined : this.random.oneOf(all)
  }

  get(url: string, secret?: string, options: InjectOptions = {}): Promise<Answer> {
    return this.house.ask(requestOf(url, secret, options))
  }

  /** Sends a form as a page of the portal does. */
  postForm(url: string, fields: Fields): Promise<Answer> {
    return this.get(url, undefined, this.form(fields))
  }

  form(fields: Fields): InjectOptions & { readonly method: 'POST' } {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
      host: 'data.example.org',
    }
    const body = new URLSearchParams(
      fields.map(([name, value]) => [name, value] as [string, string]),
    ).toString()
    return { method: 'POST', headers, body }
  }
}

export function requestOf(
  url: string,
  secret: string | undefined,
  options: InjectOptions = {},
): InjectOptions {
  const bearer = secret === undefined ? {} : { authorization: `Bearer ${secret}` }
  return { url, ...options, headers: { ...bearer, ...options.headers } }
}

/** The token that a page or a letter shows. */
export function tokenIn(text: string): string | null {
  return /das_live_[0-9A-Za-z]{49}/.exec(text)?.[0] ?? null
}

/** What a person reads of an answer. */
export function shownAnswer({ status, body }: Answer): string {
  return status < 400 ? String(status) : `${status} ${String(body['error'] ?? '')}`.trim()
}
