import type { Language } from '../../config.js'
import type { Block, LetterText } from './letter.js'

/** A letter as plain text: an empty line between blocks. */
export function renderText({ blocks }: LetterText): string {
  return `${blocks.map(blockText).join('\n\n')}\n`
}

/**
 * A letter as HTML: every value is escaped, styles are inline, no resources are loaded, and colours
 * are the reader's own, light or dark.
 */
export function renderHtml({ subject, blocks }: LetterText, language: Language): string {
  return [
    '<!doctype html>',
    `<html lang="${language}">`,
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="viewport" content="width=device-width">',
    `<title>${escaped(subject)}</title>`,
    '</head>',
    '<body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">',
    ...blocks.map(blockHtml),
    '</body>',
    '</html>',
    '',
  ].join('\n')
}

function blockText(block: Block): string {
  switch (block.kind) {
    case 'text':
      return block.text
    case 'list':
      return block.items.map((item) => `- ${item}`).join('\n')
    case 'code':
      return `    ${block.text}`
  }
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case 'text':
      return `<p>${escaped(block.text)}</p>`
    case 'list':
      return `<ul>${block.items.map((item) => `<li>${escaped(item)}</li>`).join('')}</ul>`
    case 'code':
      return `<pre style="${codeStyle}">${escaped(block.text)}</pre>`
  }
}

const codeStyle =
  'font-family: monospace; white-space: pre-wrap; overflow-wrap: anywhere; padding: 0.5em; ' +
  'border: 1px solid #888'

/** A text as HTML. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
