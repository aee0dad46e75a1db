import { Agent } from 'node:http'
import { sendWell } from '../harness/http.js'
import type { Cleanup, Run } from '../harness/script.js'
import type { Facts } from './data.js'
import { startDas } from './das.js'
import { openEngine } from './engine.js'
import type { Asked, Contestant, ContestantName, Das, Field, FieldOptions } from './field.js'
import { messageOf, pageOf } from './messages.js'
import type { Place } from './messages.js'
import { startDuckDbPeer, startPostgresPeer, startRoapi } from './peers.js'
import type { Question } from './questions.js'

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
