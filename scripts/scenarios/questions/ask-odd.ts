import { secretIn } from '../../../test/support/answers.js'
import { doors, messageOf } from '../../harness/doors.js'
import type { Words } from '../../harness/doors.js'
import { demand, Fault } from '../../harness/fault.js'
import { send } from '../../harness/http.js'
import type { Message, Reply } from '../../harness/http.js'
import type { Random } from '../../harness/random.js'
import { askWell, restMessage, shown } from './ask.js'
import type { Asking } from './ask.js'
import { drawFilter } from './draw-filter.js'
import type { Table } from './table.js'

/** What a question with a mistake may be answered with. */
const statuses: readonly number[] = [200, 400, 401, 404, 405, 406, 413, 414, 415, 431]
/** Pieces that mistakes are made of; each may be sent as it is. */
const pieces = [
  ...`&=.,*%()"'\\/?#[]{}:;+-_~|<>$! 0123456789aZ`,
  ...['%00', '%ff', '%', '%2', '%E0%80', 'in.(', 'not.', 'null', 'NaN', '1e999', '--', '𝄞', 'é'],
  ...['limit=0', 'cursor=', 'select=', 'format=x', 'id=', 'eq'],
  ...['\\u0000', '\\ud800', '\0', '\u2028'],
]
const cursorLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const mistakesMax = 4

/**
 * Asks a question in which random pieces were put in, replaced or cut out. It may still be one.
 * @throws Fault for an answer that blames the service, has another shape or shows the machine
 */
export async function askMistaken(asking: Asking, table: Table): Promise<void> {
  const { random } = asking
  const words: Words = {
    dataset: table.dataset,
    tool: random.oneOf(['query', 'top', 'aggregate'] as const),
    filters: [drawFilter(random, table, random.oneOf(table.columns)).asked],
    select: [random.oneOf(table.columns).name],
    limit: random.whole(1, 5),
    more: random.oneOf([{ by: 'id' }, { group: ['id'], measures: ['count', 'sum(id)'] }]),
  }
  const message = mistaken(random, messageOf(random.oneOf(doors), words))
  await askAnyhow(asking, message)
}

/** Walks on with a cursor of which one letter is another, or one is missing. */
export async function askForged(asking: Asking, table: Table): Promise<void> {
  const { random } = asking
  const words: Words = { dataset: table.dataset, tool: 'query', filters: [], limit: 1 }
  const { text } = await askWell(asking, restMessage(random, 'get', words, 'json'))
  const { next_cursor: cursor } = JSON.parse(text) as { next_cursor: string }
  const at = random.whole(0, cursor.length - 1)
  const letter = random.oneOf([...cursorLetters, ''].filter((each) => each !== cursor[at]))
  const forged = cursor.slice(0, at) + letter + cursor.slice(at + 1)
  const reply = await askAnyhow(
    asking,
    restMessage(random, 'get', { ...words, cursor: forged }, 'json'),
  )
  demand(reply.status === 400, `${reply.status} to the forged cursor ${forged}`)
}

function mistaken(random: Random, message: Message): Message {
  const isBody = message.body !== ''
  let text = isBody ? message.body : message.path.slice(message.path.indexOf('?') + 1)
  for (let count = random.whole(1, mistakesMax); count > 0; count--) {
    const at = random.whole(0, text.length)
    const piece = random.oneOf(pieces)
    text = text.slice(0, at) + piece + text.slice(at + random.oneOf([0, 0, 1, 3, 10]))
  }
  if (isBody) return { ...message, body: text }
  // What a client can't put into a request line is sent encoded; half a letter can't be that either.
  const whole = Buffer.from(text).toString()
  const query = whole.replace(/[^\x21-\x7e]/gu, (letter) => encodeURIComponent(letter))
  return { ...message, path: `${message.path.slice(0, message.path.indexOf('?') + 1)}${query}` }
}

async function askAnyhow({ target, note }: Asking, message: Message): Promise<Reply> {
  const reply = await send(target, message)
  note(reply)
  const { status, text, isComplete } = reply
  const fail = (what: string) => new Fault(`${what} to ${shown(message)}: ${text.slice(0, 500)}`)
  if (!statuses.includes(status) || !isComplete) throw fail(String(status))
  if (status !== 200) {
    if (!isRefusal(text)) throw fail('an error of another shape')
    // A refusal repeats the caller's own words.
    const found = secretIn(text)
    if (found && !secretIn(message.path + message.body)) throw fail(`what ${found} finds`)
  }
  return reply
}

/** `{error, detail}`, or an error of JSON-RPC. */
function isRefusal(text: string): boolean {
  const body = JSON.parse(text) as Readonly<Record<string, unknown>>
  return typeof body['detail'] === 'string' || typeof body['jsonrpc'] === 'string'
}
