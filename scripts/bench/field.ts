import type { Dialect, Place, Row } from './messages.js'
import type { Question } from './questions.js'

/** All that can be chosen; das is asked about files as dropped and packed. */
export const contestantNames = ['das', 'postgres', 'roapi', 'duckdb', 'engine'] as const
export type ContestantName = (typeof contestantNames)[number]

/** What the measurements need of a server that runs. */
export interface Service {
  /** `http://127.0.0.1:port`, another one after a restart. */
  readonly base: () => string
  /** Ends it and starts it again, without anything in its own caches. */
  readonly restart: () => Promise<void>
  /** Of its process, in bytes. */
  readonly memory: () => number
}

/** Our server, which also charges and measures itself. */
export interface Das extends Service {
  /** Of two subscriptions. */
  readonly tokens: readonly [asking: string, beside: string]
  /** Seconds that charges waited for the disk so far, and how often. */
  readonly syncs: () => Promise<{ readonly count: number; readonly seconds: number }>
  /** How late its event loop was at most since the last call. */
  readonly stallMs: () => Promise<number>
}

/** What was answered, and what that took. */
export interface Answer {
  readonly ms: number
  readonly rows: readonly Row[]
  /** Where a walk continues; null at its end. */
  readonly next: Place
}

/** A server, and what is asked there. */
export interface Asked {
  readonly service: Service
  readonly dialect: Dialect
  readonly dataset: string
  /** Empty where the server asks for none. */
  readonly token: string
}

/** A server, or the bare engine, that is measured. */
export interface Contestant {
  readonly name: string
  readonly kind: ContestantName
  /** Its pages are the first rows of an order; ROAPI's may be any rows. */
  readonly isOrdered: boolean
  /** Null for the engine, which is not a server. */
  readonly server: Asked | null
  /** Null where it can't be asked that. */
  readonly ask: (question: Question, place: Place) => Promise<Answer | null>
}

/** What there is to measure, and facts about how it came to be. */
export interface Field {
  readonly contestants: readonly Contestant[]
  readonly das: Das | null
  /** Name → fact: sizes, times of packing and loading, what is left out and why. */
  readonly facts: readonly (readonly [name: string, fact: string])[]
  /** Peers that are not installed. */
  readonly missing: readonly string[]
}

/** Where things are, and what is asked for. */
export interface FieldOptions {
  readonly contestants: readonly ContestantName[]
  /** The folder of all that is made. */
  readonly folder: string
  /** A Python environment with the peers. */
  readonly python: string
}
