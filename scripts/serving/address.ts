import type { ChildProcess } from 'node:child_process'

const startMsMax = 60_000

/**
 * Waits until a server's log tells its address.
 * @throws Error with the log when the server ends, or does not listen in time
 */
export function addressOf(
  child: ChildProcess,
  log: () => string,
  ended: Promise<number | NodeJS.Signals>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      clearTimeout(limit)
      reject(new Error(`${reason}:\n${log()}`))
    }
    const limit = setTimeout(() => {
      child.kill('SIGKILL')
      fail('the server does not listen')
    }, startMsMax)
    const look = () => {
      const base = /Server listening at (http:\/\/[\d.]+:\d+)/.exec(log())?.[1]
      if (base === undefined) return
      clearTimeout(limit)
      resolve(base)
    }
    child.stdout?.on('data', look)
    void ended.then((how) => fail(`the server ended (${how}); is it built? npm run build`))
  })
}
