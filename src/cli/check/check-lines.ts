import type { Version } from '../../versions/version.js'
import type { Output } from '../parts.js'
import { count } from '../print.js'
import type { DatasetCheck } from './dataset-verdict.js'

const lineWidth = 100
const indent = '  '

/** A block of lines for people: the verdict, then what was found, the most important first. */
export function checkLines(
  output: Output,
  { name, status, findings }: DatasetCheck,
  version: Version | null,
): readonly string[] {
  return [
    `${name}: ${status}${contentText(output, version)}`,
    ...findings.flatMap(({ level, message }) => wrapped(output, `${level}: ${message}`)),
  ]
}

function contentText(output: Output, version: Version | null): string {
  if (!version) return ''
  const { rows, columns, files } = version
  const many = (amount: number, word: string) =>
    `${count(output, amount)} ${word}${amount === 1 ? '' : 's'}`
  return ` (${many(rows, 'row')}, ${many(columns.length, 'column')}, ${many(files.length, 'file')})`
}

/** Lines of a readable length on a terminal; elsewhere one line, for tools. */
function wrapped(output: Output, text: string): readonly string[] {
  if (!output.isTTY) return [indent + text]
  const lines: string[] = []
  let line = indent
  for (const word of text.split(' ')) {
    const isBlank = line.trim() === ''
    if (!isBlank && line.length + 1 + word.length > lineWidth) {
      lines.push(line)
      line = indent + indent + word
    } else {
      line += isBlank ? word : ` ${word}`
    }
  }
  return [...lines, line]
}
