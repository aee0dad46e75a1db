import { build } from 'esbuild'

const sources = 'src/portal/browser'

/** Writes the portal's script and style; their names change with their content. */
export async function buildPortal(out: string): Promise<void> {
  await build({
    entryPoints: [`${sources}/portal.ts`, `${sources}/portal.css`],
    outdir: out,
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  })
}
