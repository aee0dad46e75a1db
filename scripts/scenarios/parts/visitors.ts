import { startMailServer } from '../../../test/sales/letters/fixtures/mail-server.js'
import type { Message } from '../../harness/http.js'
import type { Cleanup } from '../../harness/script.js'

/** Settings of a server whose letters go to a mail server on loopback, and whose clients come through a proxy. */
export async function shopSettings(cleanup: Cleanup): Promise<NodeJS.ProcessEnv> {
  const mail = await startMailServer({ teardown: (close) => cleanup.add(async () => close()) })
  return {
    DAS_SMTP_URL: mail.url,
    DAS_MAIL_FROM: 'data@example.org',
    DAS_TRUST_PROXY: '127.0.0.1',
  }
}

/** The address of a visitor's network; neighbouring numbers have nothing in common. */
export function networkOf(visitor: number): Readonly<Record<string, string>> {
  const bytes = [20 + (visitor % 100), (visitor >> 8) & 255, visitor & 255, 1]
  return { 'x-forwarded-for': bytes.join('.') }
}

/** The form of a visitor. */
export function formMessage(
  path: string,
  fields: Readonly<Record<string, string>>,
  visitor: number,
): Message {
  return {
    method: 'POST',
    path,
    body: new URLSearchParams(fields).toString(),
    type: 'application/x-www-form-urlencoded',
    headers: { accept: 'text/html', 'sec-fetch-site': 'same-origin', ...networkOf(visitor) },
  }
}
