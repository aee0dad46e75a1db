import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** What Node's profiler returns, as far as it is needed. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: {
    readonly functionName: string
    readonly url: string
    /** From 0. */
    readonly lineNumber: number
  }
}

const idle = '(idle)'

/** The event loop's own milliseconds by module, the most expensive first. */
export function timeByModule({
  nodes,
  samples,
  timeDeltas,
}: CpuProfile): readonly (readonly [module: string, ms: number])[] {
  const modules = new Map(nodes.map(({ id, callFrame }) => [id, moduleOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [at, sample] of samples.entries()) {
    const module = modules.get(sample) ?? ''
    times.set(module, (times.get(module) ?? 0) + (timeDeltas[at] ?? 0) / 1000)
  }
  times.delete(idle)
  return [...times].sort(([, one], [, other]) => other - one)
}

/** A folder of the sources, a package, or Node. */
function moduleOf({ functionName, url, lineNumber }: ProfileNode['callFrame']): string {
  if (url === '') return functionName.startsWith('(') ? functionName : 'native'
  if (url.startsWith('node:')) return url.split('/', 1)[0] ?? url
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  return name ?? sourceOf(url, lineNumber)
}

const lines = new Map<string, readonly string[]>()

/** The bundler writes the name of each source above its code. */
function sourceOf(url: string, line: number): string {
  const path = url.startsWith('file:') ? fileURLToPath(url) : url
  const known = lines.get(path) ?? (existsSync(path) ? readFileSync(path, 'utf8') : '').split('\n')
  lines.set(path, known)
  for (let at = line; at >= 0; at -= 1) {
    const [, source] = /^\/\/ (src\/\S+\.ts)$/.exec(known[at] ?? '') ?? []
    if (source !== undefined) return source
  }
  return 'other'
}
