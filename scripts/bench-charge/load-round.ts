import { Agent, get } from 'node:http'

/** A server under load. */
export interface Target {
  readonly base: string
  readonly path: string
  readonly token: string
}

export interface Round {
  /** Time of the round by its requests: what one costs when the server is never idle. */
  readonly wallMs: number
  /** Of each request, in no order. */
  readonly latenciesMs: readonly number[]
}

/**
 * Sends so many requests over `clients` connections that are kept open; each asks again as soon as
 * it has its answer.
 * @throws Error when an answer is not a page of one row
 */
export async function loadRound(target: Target, clients: number, requests: number): Promise<Round> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const latenciesMs: number[] = []
  let begun = 0
  const client = async () => {
    while (begun < requests) {
      begun += 1
      const startedAt = performance.now()
      await ask(agent, target)
      latenciesMs.push(performance.now() - startedAt)
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: clients }, client))
  const elapsedMs = performance.now() - startedAt
  agent.destroy()
  return { wallMs: elapsedMs / requests, latenciesMs }
}

function ask(agent: Agent, { base, path, token }: Target): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const request = get(base + path, { agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        if (response.statusCode === 200 && text.startsWith('{"data":[{')) return resolve()
        reject(new Error(`${response.statusCode} ${text.slice(0, 200)}`))
      })
    })
    request.on('error', reject)
  })
}
