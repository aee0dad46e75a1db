import { readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'

/** A fenced code block of a page. */
export interface Block {
  readonly language: string
  readonly text: string
  /** The line of its opening fence, for messages. */
  readonly line: number
  /** Only white space separates it from the block before. */
  readonly isAdjacent: boolean
}

/** A Markdown file of the documentation. */
export interface Page {
  /** Relative to the repository. */
  readonly path: string
  readonly text: string
  readonly blocks: readonly Block[]
}

/** Every Markdown file that readers are sent to, sorted by path. */
export const pages: readonly Page[] = globSync(['*.md', '{docs,data,src}/*.md'])
  .sort()
  .map((path) => {
    const text = readFileSync(path, 'utf8')
    return { path, text, blocks: blocksOf(text) }
  })

/** The page with this path. */
export function pageAt(path: string): Page {
  const page = pages.find((each) => each.path === path)
  if (!page) throw new Error(`there is no page ${path}`)
  return page
}

/** The first code block of a language after a text of the page, with a test's address in it. */
export function exampleAfter(path: string, text: string, language: string, base: string): string {
  const page = pageAt(path)
  const place = page.text.indexOf(text)
  const line = page.text.slice(0, place).split('\n').length
  const block = page.blocks.find((each) => each.line >= line && each.language === language)
  if (place === -1 || !block) throw new Error(`no ${language} block after "${text}" in ${path}`)
  return block.text.replaceAll('http://127.0.0.1:8080', base)
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = []
  let endOfLast = -1
  for (const match of text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)) {
    const [whole, language = '', content = ''] = match
    const between = endOfLast === -1 ? null : text.slice(endOfLast, match.index)
    const line = text.slice(0, match.index).split('\n').length
    blocks.push({ language, text: content, line, isAdjacent: between?.trim() === '' })
    endOfLast = match.index + whole.length
  }
  return blocks
}
