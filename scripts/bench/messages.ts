import type { Agent } from 'node:http'
import { sendWell } from '../harness/http.js'
import type { Message } from '../harness/http.js'
import type { Question } from './questions.js'

/** A server that answers questions over HTTP, in a form that can be sent to another process. */
export interface BenchTarget {
  readonly kind: 'das' | 'fastapi' | 'roapi'
  /** `http://127.0.0.1:port` */
  readonly base: string
  readonly dataset: 'yearly' | 'packed'
  /** Empty where the server asks for none. */
  readonly token: string
}

/** A place in a walk: our cursor, or how many rows to leave out; null = the start. */
export type Place = string | null

/**
 * Asks a question; the reply's time runs to the last byte.
 * @throws Error when the answer is not 200
 */
export function ask(agent: Agent, target: BenchTarget, question: Question, place: Place = null) {
  return sendWell({ ...target, agent }, messageOf(target, question, place))
}

function messageOf(target: BenchTarget, question: Question, place: Place): Message {
  switch (target.kind) {
    case 'das':
      return dasMessage(target.dataset, question, place)
    case 'fastapi':
      return fastApiMessage(target.dataset, question, place)
    case 'roapi': {
      const body = sqlOf(target.dataset, question, place)
      return { method: 'POST', path: '/api/sql', body, type: 'text/plain' }
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
  return getMessage(`/v1/${dataset}`, [
    ...inns.map((inn) => `inn=eq.${inn}`),
    year !== null && `year=eq.${year}`,
    okved !== null && `okved=like.${okved}*`,
    select !== null && `select=${select.join()}`,
    place !== null && `cursor=${place}`,
    `limit=${limit}`,
  ])
}

function fastApiMessage(dataset: string, question: Question, place: Place): Message {
  const { select, inns, year, okved, limit } = question
  if (inns.length > 1) {
    const body = JSON.stringify({ inns, select: select ?? [] })
    return { method: 'POST', path: `/${dataset}/companies`, body }
  }
  return getMessage(`/${dataset}`, [
    ...inns.map((inn) => `inn=${inn}`),
    year !== null && `year=${year}`,
    okved !== null && `okved=${okved}`,
    select !== null && `select=${select.join()}`,
    `limit=${limit}`,
    `offset=${place ?? 0}`,
  ])
}

function getMessage(path: string, parameters: readonly (string | false)[]): Message {
  const given = parameters.filter((parameter) => parameter !== false)
  return { method: 'GET', path: `${path}?${given.join('&')}`, body: '' }
}

/** The values are the benchmark's own and hold no quotes. */
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
