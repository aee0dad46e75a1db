import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end, whatever that is. */
export async function run(
  command: string,
  argv: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  const child = spawn(command, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)]
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout: await stdout, stderr: await stderr }
}

/**
 * The same for a command that has to succeed; its standard output.
 * @throws Error with the last line that it said
 */
export async function runWell(command: string, argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command, argv)
  if (code === 0) return stdout
  throw new Error(`${command} ${argv[0]} ended with ${code}: ${stderr.trim().split('\n').at(-1)}`)
}
