import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { Cleanup } from './cleanup.js'

/** Starts a mail server on loopback that takes and forgets every letter; returns its URL. */
export async function startMailSink(cleanup: Cleanup): Promise<string> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    onData: (stream, _session, done) => {
      stream.resume()
      stream.once('end', () => done())
    },
  })
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  cleanup.add(() => new Promise<void>((resolve) => server.close(resolve)))
  return `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}`
}
