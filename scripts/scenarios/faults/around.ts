import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { startMailServer } from '../../../test/sales/letters/fixtures/mail-server.js'
import { openDuckDb, writeParquet } from '../../harness/duckdb.js'
import { demand, eventually } from '../../harness/fault.js'
import { das, subscribe, unlimited, writeRegistry } from '../../harness/fixture.js'
import type { Datasets, Sold } from '../../harness/fixture.js'
import { getOnce } from '../../harness/http.js'
import { memoryOf } from '../../harness/process.js'
import { countsText } from '../../harness/report.js'
import type { Run } from '../../harness/script.js'
import { wait } from './site.js'
import type { FaultCase, Site } from './site.js'

const sockets = 150
const slowMs = 3000
const partMs = 100
const memoryLimit = '100MB'
const largeRows = 3_000_000
const clients = 4
const largeMs = 4000
const letters = 2
const waitingMs = 1000

/** Others misbehave: clients, those that ask for too much, the mail server. */
export const aroundFaults: readonly FaultCase[] = [
  {
    name: 'slow clients',
    about: `${sockets} connections send their requests letter by letter or read nothing for ${slowMs / 1000} s`,
    strike: async (site) => {
      const all = Array.from({ length: sockets }, (_, at) => slowSocket(site, at % 10 === 0))
      await wait(site, slowMs)
      for (const socket of all) socket.destroy()
    },
  },
  {
    name: 'little memory',
    about: `${clients} clients ask for ${largeRows} groups where --memory-limit is ${memoryLimit}`,
    start: () => Promise.resolve({ argv: ['--memory-limit', memoryLimit] }),
    strike: async (site) => {
      const { base, child } = site.server()
      const { token } = await addLarge(site)
      const path = '/v1/large/aggregate?group=word&measures=count&limit=1'
      const ends: Record<string, number> = {}
      const untilMs = performance.now() + largeMs
      const client = async () => {
        while (performance.now() < untilMs) {
          const end = (await getOnce(base, path, token))?.status ?? 'no answer'
          ends[end] = (ends[end] ?? 0) + 1
        }
      }
      await Promise.all(Array.from({ length: clients }, client))
      const peak = Math.round(memoryOf(child, 'VmHWM') / 1e6)
      site.notes.push(`large questions: ${countsText(ends)}; peak memory ${peak} MB`)
    },
  },
  {
    name: 'no mail server',
    about: `nothing listens where ${letters} letters must go; das mail send follows when it does`,
    start: async (_folder, run) => {
      const server = await openMailServer(run)
      await server.close()
      return { settings: { DAS_SMTP_URL: server.url, DAS_MAIL_FROM: 'data@example.org' } }
    },
    strike: sendLate,
  },
]

/** It sends its request letter by letter, or takes nothing of a long answer. */
function slowSocket({ base, fixture }: Site, isReader: boolean): Socket {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  const head =
    'GET /v1/plain/export HTTP/1.1\r\nHost: test\r\n' +
    `Authorization: Bearer ${fixture.other.token}\r\n\r\n`
  if (isReader) {
    socket.pause()
    socket.write(head)
    return socket
  }
  let at = 0
  const timer = setInterval(() => {
    socket.write(head.charAt(at))
    at += 1
  }, partMs)
  return socket.once('close', () => clearInterval(timer))
}

/** Adds a dataset whose groups don't fit into the memory of the engine, and sells it. */
async function addLarge({ fixture, base }: Site): Promise<Sold> {
  using duckdb = await openDuckDb()
  const select = `SELECT md5(i::VARCHAR) AS word FROM range(${largeRows}) t(i)`
  await writeParquet(duckdb, join(fixture.folder, 'large.parquet'), select)
  const path = join(fixture.folder, 'registry.yaml')
  const { datasets } = JSON.parse(await readFile(path, 'utf8')) as { datasets: Datasets }
  const large = {
    ...{ title: 'Large', files: 'large.parquet', require_filter: false },
    plans: { all: unlimited },
  }
  await writeRegistry(fixture.folder, { ...datasets, large })
  const sold = await subscribe(fixture, ['large:all'])
  await eventually('the large dataset is served', { withinMs: 120_000 }, async () =>
    (await getOnce(base, '/v1/large?limit=1', sold.token))?.status === 200 ? true : undefined,
  )
  return sold
}

function openMailServer({ cleanup }: Run, port = 0) {
  return startMailServer({ teardown: (close) => cleanup.add(async () => close()) }, { port })
}

async function sendLate(site: Site): Promise<void> {
  const { fixture, run, options, notes } = site
  const { settings: mail = {} } = options
  const tokens: string[] = []
  for (let at = 0; at < letters; at++) {
    tokens.push((await subscribe(fixture, ['plain:all'], [], mail)).token)
  }
  const requireWaiting = async (number: number) => {
    const waiting = JSON.parse(await das(fixture, ['mail', 'list', '--json'])) as readonly unknown[]
    demand(waiting.length === number, `${waiting.length} letters wait, not ${number}`)
  }
  await requireWaiting(letters)
  await wait(site, waitingMs)
  const server = await openMailServer(run, Number(new URL(mail['DAS_SMTP_URL'] ?? '').port))
  await das(fixture, ['mail', 'send'], mail)
  await requireWaiting(0)
  const arrived = tokens.map(
    (token) => server.letters.filter(({ mail }) => mail.text?.includes(token)).length,
  )
  await server.close()
  demand(
    arrived.every((times) => times === 1),
    `letters arrived ${arrived.join(' and ')} times`,
  )
  notes.push(`${letters} letters waited, and arrived once each`)
}
