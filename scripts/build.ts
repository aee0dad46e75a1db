import { chmod, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { buildPortal } from './build/portal.js'
import { text } from './harness/options.js'
import { runScript } from './harness/script.js'

const command = {
  name: 'build',
  usage: 'npm run build --',
  about: `Bundles src/ into a few files: reading hundreds of them is most of what a start takes.`,
  options: { out: text('where to', 'dist') },
}

/** Packages of many small files become part of the program; the others stay installed. */
const inside: readonly string[] = ['typebox']

/** Programs of threads and processes. */
const workers = [
  'app/pack-worker',
  'app/import-worker',
  'app/hash-worker',
  'app/name-worker',
  'sheet/sheet-worker',
].map((name) => `src/${name}.ts`)

const common = { platform: 'node', target: 'node22', logLevel: 'warning' } as const

/** Old releases of Node.js read the launcher, to say that they are too old. */
const launcherTarget = 'node14'

/** Writes the launcher `das.cjs`, what it starts, the workers, and the portal's files in a folder. */
async function buildProgram(out: string): Promise<void> {
  await rm(out, { recursive: true, force: true })
  await build({
    ...common,
    entryPoints: ['src/main.ts', ...workers],
    outdir: out,
    entryNames: '[name]',
    bundle: true,
    format: 'esm',
    splitting: true,
    plugins: [
      {
        name: 'packages',
        setup: ({ onResolve }) => {
          onResolve({ filter: /^[^.]/ }, ({ path, kind }) => {
            const isOurs = kind === 'entry-point' || path.startsWith('/')
            const isInside = inside.includes(path.split('/', 1)[0] ?? '')
            return isOurs || isInside ? null : { path, external: true }
          })
        },
      },
    ],
  })
  const launcher = join(out, 'das.cjs')
  await build({
    ...common,
    target: launcherTarget,
    entryPoints: ['src/das.cts'],
    outfile: launcher,
    format: 'cjs',
  })
  await chmod(launcher, 0o755)
  await buildPortal(join(out, 'portal'))
}

await runScript(command, ({ out }) => buildProgram(out))
