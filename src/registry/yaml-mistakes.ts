import type { ErrorCode } from 'yaml'
import { quoted } from '../text.js'
import { unknownKeyText } from './shape.js'
import type { ShapeProblem } from './shape.js'

/** An error of the parser, as the parser reports it. */
interface YamlMistake {
  readonly code: ErrorCode
  readonly message: string
  /** Offsets of its begin and end. */
  readonly pos: readonly [number, number]
}

/** What is wrong, and what to do, by the parser's code; other errors keep the parser's text. */
const texts: Partial<Record<ErrorCode, (place: string) => string>> = {
  DUPLICATE_KEY: (place) =>
    `The key ${quoted(keyAt(place))} is here a second time. Keep one, or rename one`,
  TAB_AS_INDENT: () => 'Tabs are not allowed as indentation. Use spaces',
  BAD_INDENT: () =>
    'The indentation of this line fits no line above. Keys of one level begin at one column',
  BLOCK_AS_IMPLICIT_KEY: () =>
    'A colon and a space begin a value a second time. Put a text that has them into quotes, ' +
    'or a key on a line of its own',
  BAD_SCALAR_START: (place) => `A text that begins with "${place.slice(0, 1)}" needs quotes`,
  MULTIPLE_DOCS: () => 'A second document begins here. Keep one, without the line "---"',
}

/** The text of a mistake in YAML, without its place and the full stop at its end. */
export function yamlMistakeText({ code, message, pos }: YamlMistake, text: string): string {
  const closing =
    /^Flow .*end with a (.)$/.exec(message)?.[1] ?? /^Missing closing (.)/.exec(message)?.[1]
  if (closing !== undefined) return `A closing ${closing} is missing before this place. Add it`
  return texts[code]?.(text.slice(pos[0], pos[0] + 200)) ?? message
}

/** The text of an alias that leads nowhere; most are globs without quotes. */
export function brokenAliasText(message: string): string {
  return message.startsWith('Unresolved alias')
    ? 'A value that begins with * is an alias in YAML. Put a text such as "*.parquet" into quotes'
    : message
}

const nothingText =
  'got nothing: write its value after the colon, or its keys below, indented more.'
const commaText = 'A comma ends a value in braces: write 10000, not 10,000.'

/** A mistake in the shape of a registry, in words of YAML: an empty value, a number with commas. */
export function shapeMistakeText({ path, message }: ShapeProblem): string {
  const isNumber = /^\d{1,3}$/.test(path.at(-1) ?? '')
  if (isNumber) return message === unknownKeyText ? `${message} ${commaText}` : message
  return message.replace(/got null\.$/, nothingText)
}

/** The key at the begin of a text, without its quotes. */
function keyAt(place: string): string {
  return (/^("[^"\n]*"|'[^'\n]*'|[^:\n]*)/.exec(place)?.[0] ?? '').replace(/^(["'])(.*)\1$/, '$2')
}
