import { readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'

/** A file of the portal. Its name changes with its content. */
interface Asset {
  readonly path: string
  readonly type: string
  readonly content: Buffer
}

export interface Assets {
  /** The light one: of a page that names no other. */
  readonly script: Asset | null
  readonly datasetScript: Asset | null
  /** Of the page of lists, which alone reads files. */
  readonly listScript: Asset | null
  readonly style: Asset | null
  readonly referenceScript: Asset | null
  readonly referenceStyle: Asset | null
}

/** Reads the built scripts and styles from this folder; null = no assets. */
export function readAssets(folder: string | null): Assets {
  const names = folder === null ? [] : readdirSync(folder)
  const asset = (start: string, extension: string, type: string): Asset | null => {
    const name = names.find((each) => each.startsWith(start) && extname(each) === extension)
    if (folder === null || name === undefined) return null
    return { path: `/assets/${name}`, type, content: readFileSync(join(folder, name)) }
  }
  const script = (start: string) => asset(start, '.js', 'text/javascript; charset=utf-8')
  const style = (start: string) => asset(start, '.css', 'text/css; charset=utf-8')
  return {
    script: script('page'),
    datasetScript: script('dataset'),
    listScript: script('list'),
    style: style('portal'),
    referenceScript: script('reference'),
    referenceStyle: style('reference'),
  }
}
