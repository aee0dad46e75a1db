import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { startChild } from '../harness/process.js'
import type { Child, OnStart } from '../harness/process.js'

const startMs = 60_000

/**
 * Starts the built product over the shipped registry, with its state in this folder and a demo rate
 * that the suite does not use up; resolves with its port when it listens.
 */
export async function startProduct(
  folder: string,
  demoRatePerMinute: number,
  onStart: OnStart,
): Promise<number> {
  const registry = parseDocument(await readFile('registry.yaml', 'utf8'))
  registry.setIn(['demo', 'rate_per_minute'], demoRatePerMinute)
  await writeFile(join(folder, 'registry.yaml'), String(registry))
  await symlink(resolve('data'), join(folder, 'data'))
  const flags = ['--host', '127.0.0.1', '--port', '0', '--log-level', 'info', '--state', 'var']
  const child = startChild(process.execPath, [resolve('dist/das.cjs'), 'serve', ...flags], {
    folder,
    environment: withoutSettings(process.env),
  })
  onStart(child)
  return listening(child)
}

/** What the caller has set for a server of their own does not count here. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const entries = Object.entries(environment).filter(([name]) => !name.startsWith('DAS_'))
  return Object.fromEntries(entries)
}

/** The port, as the log tells it. */
function listening(child: Child): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`${reason}:\n${child.output()}`))
    const limit = setTimeout(() => fail('the product does not listen'), startMs)
    const look = () => {
      const port = /Server listening at http:\/\/[\d.]+:(\d+)/.exec(child.output())?.[1]
      if (port === undefined) return
      clearTimeout(limit)
      resolve(Number(port))
    }
    child.onOutput(look)
    void child.ended.then(() => {
      clearTimeout(limit)
      fail('the product ended (is it built? npm run build)')
    })
  })
}
