import { serve } from '../../harness/fixture.js'
import type { Fixture, ServeOptions } from '../../harness/fixture.js'
import type { Server } from '../../harness/process.js'
import type { Cleanup } from '../../harness/script.js'

/** A server that keeps its address and its state when it is started again. */
export interface Serving {
  readonly base: string
  /** The process that runs now. */
  readonly server: () => Server
  /** Starts the next one. */
  readonly start: () => Promise<void>
  /** Ends the server, and starts the next one; resolves when it listens. */
  readonly restart: (signal: NodeJS.Signals) => Promise<void>
}

/** Starts the built server over a fixture. */
export async function startServing(
  fixture: Fixture,
  cleanup: Cleanup,
  options: ServeOptions = {},
): Promise<Serving> {
  let server = await serve(fixture, cleanup, options)
  const { base } = server
  const { port } = new URL(base)
  const start = async () => {
    server = await serve(fixture, cleanup, { ...options, port })
  }
  const restart = async (signal: NodeJS.Signals) => {
    await server.end(signal)
    await start()
  }
  return { base, server: () => server, start, restart }
}
