import { build } from 'esbuild'

const sources = 'src/portal/browser'
const entries = ['page.ts', 'dataset.ts', 'list.ts', 'reference.ts', 'portal.css']

/**
 * Writes the scripts and styles of the portal and of its API reference, which alone holds Swagger
 * UI; their names change with their content.
 */
export async function buildPortal(out: string): Promise<void> {
  await build({
    entryPoints: entries.map((name) => `${sources}/${name}`),
    outdir: out,
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    charset: 'utf8',
    target: 'es2022',
    logLevel: 'warning',
  })
}
