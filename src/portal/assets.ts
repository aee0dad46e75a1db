import { readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'

/** A file of the portal. Its name changes with its content. */
interface Asset {
  readonly path: string
  readonly type: string
  readonly content: Buffer
}

export interface Assets {
  readonly script: Asset | null
  readonly style: Asset | null
}

/** Reads the built script and style from this folder; null = no assets. */
export function readAssets(folder: string | null): Assets {
  const names = folder === null ? [] : readdirSync(folder)
  const asset = (extension: string, type: string): Asset | null => {
    const name = names.find((each) => extname(each) === extension)
    if (folder === null || name === undefined) return null
    return { path: `/assets/${name}`, type, content: readFileSync(join(folder, name)) }
  }
  return {
    script: asset('.js', 'text/javascript; charset=utf-8'),
    style: asset('.css', 'text/css; charset=utf-8'),
  }
}
