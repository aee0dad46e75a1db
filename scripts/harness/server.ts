import type { ChildProcess } from 'node:child_process'

interface Wait {
  /** What finds the address in the log; by default, as our own server writes it. */
  readonly pattern?: RegExp
  readonly msMax?: number
}

const startMsMax = 60_000

const listening = /Server listening at (http:\/\/[\d.]+:\d+)/

/**
 * Waits until a server's log tells its address, at most for so long.
 * @throws Error with the log when the server ends, or does not listen in time
 */
export function addressOf(
  child: ChildProcess,
  log: () => string,
  ended: Promise<number | NodeJS.Signals>,
  { pattern = listening, msMax = startMsMax }: Wait = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const streams = [child.stdout, child.stderr]
    const forget = () => {
      clearTimeout(limit)
      for (const stream of streams) stream?.off('data', look)
    }
    const fail = (reason: string) => {
      forget()
      reject(new Error(`${reason}:\n${log()}`))
    }
    const limit = setTimeout(() => {
      child.kill('SIGKILL')
      fail('the server does not listen')
    }, msMax)
    const look = () => {
      const base = pattern.exec(log())?.[1]
      if (base === undefined) return
      forget()
      resolve(base)
    }
    for (const stream of streams) stream?.on('data', look)
    void ended.then((how) => fail(`the server ended (${how}); is it built? npm run build`))
  })
}
