import type { Cleanup } from './cleanup.js'
import { startProgram } from './process.js'
import type { Exit, Program, Start } from './process.js'

/** A server in a process of its own. */
export interface Server extends Program {
  /** `http://127.0.0.1:port` */
  readonly base: string
}

/** A server, and how its address is found. */
export interface ServerStart extends Start {
  /** What finds the address in its output; by default what the product logs. */
  readonly pattern?: RegExp
  readonly startMsMax?: number
}

const startMsMaxDefault = 60_000
const listening = /Server listening at (http:\/\/[\d.]+:\d+)/

/**
 * Starts a server and waits until it listens.
 * @throws Error with the end of its output when it ends first, or does not listen in time
 */
export async function startServer(start: ServerStart, cleanup: Cleanup): Promise<Server> {
  const program = startProgram(start, cleanup)
  return { ...program, base: await addressOf(program, start) }
}

function addressOf({ child, output, ended }: Program, start: ServerStart): Promise<string> {
  const { pattern = listening, startMsMax = startMsMaxDefault } = start
  return new Promise((resolve, reject) => {
    const streams = [child.stdout, child.stderr]
    const settle = () => {
      clearTimeout(limit)
      for (const stream of streams) stream?.off('data', check)
    }
    const fail = (reason: string) => {
      settle()
      reject(new Error(`${reason}:\n${output()}`))
    }
    const limit = setTimeout(() => {
      child.kill('SIGKILL')
      fail('the server does not listen')
    }, startMsMax)
    const check = () => {
      const base = pattern.exec(output())?.[1]
      if (base === undefined) return
      settle()
      resolve(base)
    }
    for (const stream of streams) stream?.on('data', check)
    void ended.then((exit: Exit) => fail(`the server ended (${exit})`))
  })
}
