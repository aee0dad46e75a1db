import { Agent } from 'node:http'
import { sendWell } from '../harness/http.js'
import type { Cleanup, Run } from '../harness/script.js'
import type { Facts } from './data.js'
import { startDas } from './das.js'
import { openEngine } from './engine.js'
import { messageOf, pageOf } from './messages.js'
import type { Dialect, Place, Row } from './messages.js'
import { startDuckDbPeer, startPostgresPeer, startRoapi } from './peers.js'
import type { Question } from './questions.js'

/** All that can be chosen; das is asked about files as dropped and packed. */
export const contestantNames = ['das', 'postgres', 'roapi', 'duckdb', 'engine'] as const
type ContestantName = (typeof contestantNames)[number]

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
interface Asked {
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

/** Starts the contestants one after another; a peer that is not installed is left out. */
export async function startField(options: FieldOptions, facts: Facts, run: Run): Promise<Field> {
  const contestants: Contestant[] = []
  const found: [string, string][] = []
  const missing: string[] = []
  let das: Das | null = null
  const has = (name: ContestantName) => options.contestants.includes(name)
  if (has('das')) {
    run.update('packing, and starting das')
    const started = await startDas(options.folder, facts, run)
    das = started.das
    const [token] = das.tokens
    const asked = { service: das, dialect: 'das', token } as const
    contestants.push(
      server('das, as dropped', { ...asked, dataset: 'dropped' }, run.cleanup),
      server('das, packed', { ...asked, dataset: 'packed' }, run.cleanup),
    )
    found.push(...started.facts)
  }
  const peers = [
    ['postgres', 'PostgreSQL + FastAPI', startPostgresPeer],
    ['roapi', 'ROAPI', startRoapi],
    ['duckdb', 'DuckDB + FastAPI', startDuckDbPeer],
  ] as const
  for (const [kind, title, start] of peers.filter(([name]) => has(name))) {
    run.update(`starting ${title}`)
    const peer = await start(options, facts, run)
    if ('missing' in peer) {
      missing.push(title)
      found.push([title, `left out: ${peer.missing}`])
    } else {
      const asked = { service: peer.service, dialect: kind, dataset: '', token: '' }
      contestants.push(server(title, asked, run.cleanup))
      found.push(...peer.facts)
    }
  }
  if (has('engine')) contestants.push(await engine(facts, run.cleanup))
  return { contestants, das, facts: found, missing }
}

/** A server, asked over one connection that is kept open. */
function server(name: string, asked: Asked, cleanup: Cleanup): Contestant {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  cleanup.add(async () => agent.destroy())
  const { service, dialect, dataset, token } = asked
  const ask = async (question: Question, place: Place) => {
    const message = messageOf(dialect, dataset, question, place)
    if (message === null) return null
    const { ms, text } = await sendWell({ base: service.base(), agent, token }, message)
    const limit = question.kind === 'rows' ? question.limit : Infinity
    return { ms, ...pageOf(dialect, limit, place, text) }
  }
  return { name, kind: dialect, isOrdered: dialect !== 'roapi', server: asked, ask }
}

async function engine(facts: Facts, cleanup: Cleanup): Promise<Contestant> {
  const askEngine = await openEngine(facts, cleanup)
  const ask = async (question: Question, place: Place) => {
    // It has no walk: a page from the middle would be a statement of its own.
    return place === null ? { ...(await askEngine(question)), next: null } : null
  }
  return { name: 'bare DuckDB', kind: 'engine', isOrdered: true, server: null, ask }
}
