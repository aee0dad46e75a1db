import { build } from 'esbuild'

const sources = 'src/portal/browser'

/**
 * Writes the scripts and styles of the portal and of its API reference, which alone holds Swagger
 * UI; their names change with their content.
 */
export async function buildPortal(out: string): Promise<void> {
  await build({
    entryPoints: ['portal.ts', 'page.ts', 'list.ts', 'portal.css', 'reference.ts'].map(
      (name) => `${sources}/${name}`,
    ),
    outdir: out,
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  })
}
