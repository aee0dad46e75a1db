import { chmod, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { buildPortal } from './build/portal.js'
import { readFlags } from './harness/options.js'
import { runScript } from './harness/script.js'

const help = `Usage: npm run build, or tsx scripts/build.ts [--out FOLDER]

Makes the program of src/, in few files: reading hundreds of them is most of what a start takes.
  --out F   where to (default dist)
  --help    this text`

/**
 * Packages of many small files, which become part of the program. All others stay where they are
 * installed.
 */
const inside: readonly string[] = ['typebox']

const common = { platform: 'node', target: 'node20', logLevel: 'warning' } as const

/** Writes the launcher `das.cjs`, what it starts, the workers, and the portal's files in a folder. */
async function buildProgram(out: string): Promise<void> {
  await rm(out, { recursive: true, force: true })
  await build({
    ...common,
    entryPoints: ['src/main.ts', 'src/app/pack-worker.ts', 'src/app/hash-worker.ts'],
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
  await build({ ...common, entryPoints: ['src/das.cts'], outfile: launcher, format: 'cjs' })
  await chmod(launcher, 0o755)
  await buildPortal(join(out, 'portal'))
}

await runScript('build', async () => {
  const values = readFlags(process.argv.slice(2), {
    out: { type: 'string', default: 'dist' },
    help: { type: 'boolean' },
  })
  if (values.help) console.log(help)
  else await buildProgram(values.out)
})
