import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { ErrorCode } from '../../src/errors.js'
import { errorStatus } from '../../src/errors.js'
import type { Answer, World } from './world.js'

/** What no answer and no log line may hold: file paths, SQL, the engine's words, whole tokens. */
const leaks = [
  /\/(?:tmp|home|work|var|usr|etc)\/\w/,
  /(?<!\bvnd\.apache)\.parquet|\.testdir|\.tap\//,
  /read_parquet|file_row_number|duckdb/i,
  /\b(?:Binder|Parser|Catalog|Conversion|IO|INTERNAL|Out of Memory) Error|exception_type|LINE \d/,
  /\bSELECT\b.+\bFROM\b|\bUNNEST\b|\$\d+::/i,
  /node_modules|\bat .+\.[jt]s:\d+/,
  /das_live_[0-9A-Za-z]{20}/,
]

/** Nothing of the machine shows in a text: no path, SQL, stack or token. */
export function holdsNoSecret(t: Test, text: string, name: string): void {
  const found = secretIn(text)
  if (found) t.fail(`${name} shows ${String(found)}: ${text.slice(0, 300)}`)
}

/** What a text shows of the machine, if anything. */
export function secretIn(text: string): RegExp | undefined {
  return leaks.find((leak) => leak.test(text))
}

/** An error of the one shape: status, the body's two keys, the headers of every error. */
export function isError(
  t: Test,
  answer: Answer,
  code: ErrorCode,
  detail: RegExp = /./,
  name: string = code,
): void {
  const { status, headers, body, text } = answer
  const foreign = ['etag', 'x-dataset-version', 'last-modified', 'server', 'x-powered-by']
  const shown = {
    status,
    ...body,
    keys: Object.keys(body).join(),
    type: headers['content-type'],
    cache: headers['cache-control'],
    requestId: headers['x-request-id'],
    foreign: foreign.filter((each) => headers[each] !== undefined).join(),
  }
  const expected = {
    status: errorStatus[code],
    error: code,
    detail,
    keys: /^error,detail$/,
    type: 'application/json; charset=utf-8',
    cache: 'no-store',
    requestId: /^[A-Za-z0-9-]{1,64}$/,
    foreign: /^$/,
  }
  t.match(shown, expected, name)
  holdsNoSecret(t, text, name)
}

/** One column of an answer's rows, to compare with what is expected. */
export function column(answer: Answer, name: string): readonly unknown[] {
  return answer.body.data.map((row) => row[name])
}

/** Opens the world's server on a free port of this machine; the world's teardown closes it. */
export async function listen(world: World): Promise<number> {
  await world.app.server.listen({ host: '127.0.0.1', port: 0 })
  return (world.app.server.server.address() as AddressInfo).port
}

/** Sends bytes as they are, and reads until the server closes the connection. */
export function sendRaw(port: number, bytes: string | Buffer): Promise<readonly Answer[]> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port })
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => {
      resolve(parseAnswers(Buffer.concat(chunks).toString()))
    })
    socket.write(bytes)
  })
}

/** Sends the bytes of one request; its answer. */
export async function sendOne(port: number, bytes: string | Buffer): Promise<Answer> {
  const [answer] = await sendRaw(port, bytes)
  if (!answer) throw new Error(`no answer to ${JSON.stringify(String(bytes).slice(0, 80))}`)
  return answer
}

/** A request line and headers as text, closing the connection afterwards. */
export function requestText(
  line: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): string {
  const all = { Host: 'test', Connection: 'close', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `${line} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}

function parseAnswers(text: string): readonly Answer[] {
  const answers: Answer[] = []
  for (const part of text.split(/(?=HTTP\/1\.1 \d{3} )/)) {
    const [head = '', body = ''] = part.split('\r\n\r\n', 2)
    const [status = '', ...lines] = head.split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => {
        const [name = '', ...value] = line.split(': ')
        return [name.toLowerCase(), value.join(': ')] as const
      }),
    )
    if (status === '') continue
    answers.push({ status: Number(status.split(' ')[1]), headers, text: body, body: parse(body) })
  }
  return answers
}

function parse(text: string): Answer['body'] {
  try {
    return JSON.parse(text) as Answer['body']
  } catch {
    return {} as Answer['body']
  }
}
