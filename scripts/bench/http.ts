import { request } from 'node:http'
import type { Agent } from 'node:http'
import type { Question } from './questions.js'

/** A server that answers questions over HTTP, in a form that another process can be told. */
export interface Target {
  readonly kind: 'das' | 'fastapi' | 'roapi'
  /** `http://127.0.0.1:port` */
  readonly base: string
  readonly dataset: 'yearly' | 'packed'
  /** Empty where none is asked for. */
  readonly token: string
}

/** A place in a walk: our cursor, or how many rows to leave out; null = the beginning. */
export type Place = string | null

export interface Reply {
  /** From the first byte sent to the last one read. */
  readonly ms: number
  readonly text: string
}

interface Message {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body: string
}

const answerMsMax = 120_000
const lettersMax = 500

/**
 * Asks, and times it to the last byte.
 * @throws Error when the answer is not 200
 */
export function ask(
  agent: Agent,
  target: Target,
  question: Question,
  place: Place = null,
): Promise<Reply> {
  const { method, path, body } = messageOf(target, question, place)
  const headers = {
    ...(target.token !== '' && { authorization: `Bearer ${target.token}` }),
    ...(body !== '' && {
      'content-type': target.kind === 'roapi' ? 'text/plain' : 'application/json',
      'content-length': Buffer.byteLength(body),
    }),
  }
  return new Promise((resolve, reject) => {
    const startedMs = performance.now()
    const sent = request(target.base + path, { method, headers, agent })
    sent.setTimeout(answerMsMax, () => sent.destroy(new Error(`no answer from ${target.kind}`)))
    sent.once('error', reject)
    sent.once('response', (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.once('error', reject)
      answer.once('end', () => {
        const ms = performance.now() - startedMs
        const text = Buffer.concat(parts).toString()
        if (answer.statusCode === 200) return resolve({ ms, text })
        const said = text.slice(0, lettersMax)
        reject(new Error(`${target.kind} answers ${answer.statusCode} to ${path}: ${said}`))
      })
    })
    sent.end(body === '' ? undefined : body)
  })
}

function messageOf(target: Target, question: Question, place: Place): Message {
  switch (target.kind) {
    case 'das':
      return dasMessage(target.dataset, question, place)
    case 'fastapi':
      return fastApiMessage(target.dataset, question, place)
    case 'roapi': {
      const body = sqlOf(target.dataset, question, place)
      return { method: 'POST', path: '/api/sql', body }
    }
  }
}

function dasMessage(dataset: string, question: Question, place: Place): Message {
  const { select, inns, year, okved, limit } = question
  if (inns.length > 1) {
    const filters = [{ column: 'inn', op: 'in', value: inns }]
    const body = JSON.stringify({ filters, ...(select && { select }), limit })
    return { method: 'POST', path: `/v1/${dataset}/query`, body }
  }
  const filters = [
    ...inns.map((inn) => `inn=eq.${inn}`),
    ...(year === null ? [] : [`year=eq.${year}`]),
    ...(okved === null ? [] : [`okved=like.${okved}*`]),
    ...(select === null ? [] : [`select=${select.join()}`]),
    ...(place === null ? [] : [`cursor=${place}`]),
  ]
  return { method: 'GET', path: `/v1/${dataset}?${filters.join('&')}&limit=${limit}`, body: '' }
}

function fastApiMessage(dataset: string, question: Question, place: Place): Message {
  const { select, inns, year, okved, limit } = question
  if (inns.length > 1) {
    const body = JSON.stringify({ inns, select: select ?? [] })
    return { method: 'POST', path: `/${dataset}/companies`, body }
  }
  const filters = [
    ...inns.map((inn) => `inn=${inn}`),
    ...(year === null ? [] : [`year=${year}`]),
    ...(okved === null ? [] : [`okved=${okved}`]),
    ...(select === null ? [] : [`select=${select.join()}`]),
  ]
  const path = `/${dataset}?${filters.join('&')}&limit=${limit}&offset=${place ?? 0}`
  return { method: 'GET', path, body: '' }
}

/** Values are the benchmark's own: none holds a quote. */
function sqlOf(dataset: string, question: Question, place: Place): string {
  const { select, inns, year, okved, limit } = question
  const columns = select?.map((name) => `"${name}"`).join(', ') ?? '*'
  const list = inns.map((inn) => `'${inn}'`)
  const conditions = [
    ...(list.length === 0 ? [] : [list[1] ? `inn IN (${list.join(', ')})` : `inn = ${list[0]}`]),
    ...(year === null ? [] : [`year = ${year}`]),
    ...(okved === null ? [] : [`okved LIKE '${okved}%'`]),
  ]
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const offset = place === null ? '' : ` OFFSET ${place}`
  return `SELECT ${columns} FROM ${dataset}${where} LIMIT ${limit}${offset}`
}
