import { startMailServer } from '../../../test/sales/letters/fixtures/mail-server.js'
import type { MailServer } from '../../../test/sales/letters/fixtures/mail-server.js'
import { bareEnvironment, subscribe } from '../../harness/fixture.js'
import type { Run } from '../../harness/script.js'
import { dasOf } from './site.js'
import type { FaultCase, Site } from './site.js'

const letters = 2
const holdMs = 1000

function openMailServer({ cleanup }: Run, port = 0): Promise<MailServer> {
  return startMailServer({ teardown: (close) => cleanup.add(async () => close()) }, { port })
}

/** @throws Error unless so many letters wait */
async function requireWaiting(site: Site, number: number): Promise<void> {
  const waiting = JSON.parse(await dasOf(site, ['mail', 'list', '--json'])) as readonly unknown[]
  if (waiting.length !== number) throw new Error(`${waiting.length} letters wait, not ${number}`)
}

/** The mail server can't be reached. */
export const mailFaults: readonly FaultCase[] = [
  {
    name: 'no mail server',
    about: `nothing listens where ${letters} letters must go; das mail send follows when it does`,
    start: async (_folder, run) => {
      const server = await openMailServer(run)
      await server.close()
      const mail = { DAS_SMTP_URL: server.url, DAS_MAIL_FROM: 'data@example.org' }
      return { env: { ...bareEnvironment(), ...mail } }
    },
    strike: async (site) => {
      const { DAS_SMTP_URL = '', DAS_MAIL_FROM } = site.env
      const mail = { DAS_SMTP_URL, DAS_MAIL_FROM }
      const tokens: string[] = []
      for (let at = 0; at < letters; at++) {
        tokens.push((await subscribe(site.fixture, ['plain:all'], [], mail)).token)
      }
      await requireWaiting(site, letters)
      await site.wait(holdMs)
      const server = await openMailServer(site.run, Number(new URL(DAS_SMTP_URL).port))
      await dasOf(site, ['mail', 'send'], mail)
      await requireWaiting(site, 0)
      const arrived = tokens.map(
        (token) => server.letters.filter(({ mail }) => mail.text?.includes(token)).length,
      )
      await server.close()
      if (arrived.some((times) => times !== 1)) {
        throw new Error(`letters arrived ${arrived.join(' and ')} times`)
      }
      site.notes.push(`${letters} letters waited, and arrived once each`)
    },
  },
]
