import { Agent } from 'node:http'
import type { Das } from '../bench/das.js'
import type { Engine } from '../bench/engine.js'
import type { Layout } from '../bench/facts.js'
import type { Peers } from '../bench/peers.js'
import { sendWell } from '../harness/http.js'
import type { Message } from '../harness/http.js'
import type { Asker, Cells } from './rounds.js'

type Row = Readonly<Record<string, unknown>>

/** Our server, over one connection that is kept open. */
export function dasAsker({ server, token }: Das, dataset: string): Asker {
  const agent = keptAgent()
  return {
    name: `das ${dataset}`,
    ask: async ({ path }) => {
      const message = { method: 'GET', path: `/v1/${dataset}${path}`, body: '' } as const
      const { ms, text } = await sendWell({ base: server.base, token, agent }, message)
      // An answer as our contract defines it.
      const { data } = JSON.parse(text) as { data: readonly Row[] }
      return { ms, rows: data.map((row) => Object.values(row)) }
    },
  }
}

/** The bare engine: the time is measured in its own process. */
export function engineAsker(engine: Engine, { name }: Layout): Asker {
  return {
    name: `engine ${name}`,
    ask: async ({ sql }) => {
      const { ms, rows } = await engine.send({
        kind: 'sql',
        sql: sql('read_parquet($1::VARCHAR[])'),
      })
      // Each text is one row's cells.
      return { ms, rows: rows.map((text) => JSON.parse(text) as Cells) }
    },
  }
}

/** The peers, which take SQL. */
export function peerAskers({ present }: Peers, datasets: readonly string[]): readonly Asker[] {
  return present.flatMap(({ kind, server }) =>
    datasets.map((dataset): Asker => {
      const agent = keptAgent()
      const path = kind === 'roapi' ? '/api/sql' : '/sql'
      return {
        name: `${kind === 'roapi' ? 'ROAPI' : 'FastAPI'} ${dataset}`,
        ask: async ({ sql }) => {
          const message: Message = { method: 'POST', path, body: sql(dataset), type: 'text/plain' }
          const { ms, text } = await sendWell({ base: server.base, token: '', agent }, message)
          // Both answer with an array of rows.
          return { ms, rows: (JSON.parse(text) as readonly Row[]).map((row) => Object.values(row)) }
        },
      }
    }),
  )
}

function keptAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 })
}
