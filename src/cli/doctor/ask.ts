import { request as askHttp } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as askHttps } from 'node:https'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { abortAfter } from '../../clock.js'
import type { Clock } from '../../clock.js'

/** An answer, and the end of the connection on this side. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly localPort: number | undefined
}

const askMsMax = 5000

/**
 * Sends a GET request over a connection of its own, and follows no redirect.
 * @throws the system's error, also when it takes longer than five seconds
 */
export async function ask(
  url: string,
  headers: Readonly<Record<string, string>>,
  clock: Clock,
): Promise<Answer> {
  const signal = abortAfter(clock, askMsMax)
  const send = url.startsWith('https:') ? askHttps : askHttp
  const request = send(url, { headers, signal, agent: false })
  request.end()
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  const { localPort } = answer.socket
  const body = await text(answer)
  return { status: answer.statusCode ?? 0, headers: answer.headers, body, localPort }
}
