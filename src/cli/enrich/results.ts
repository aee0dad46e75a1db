import type { Answers } from '../../lists/answers.js'
import type { ListPrice } from '../../lists/list-price.js'
import type { ListFile } from '../../lists/open-list.js'
import type { ListKeys, MalformedLine } from '../../lists/read-keys.js'
import type { WrittenList } from '../../lists/write-list.js'
import { listed, many, quoted } from '../../text.js'
import type { Result } from '../command.js'
import type { CliParts } from '../parts.js'
import { amountOf, count } from '../print.js'

/** What a dry run says. */
export function priceResult(
  { stdout }: CliParts,
  list: ListFile,
  read: ListKeys,
  names: readonly string[],
  price: ListPrice,
): Result {
  const { lines, keys, malformed } = read
  const { requestsMin, requestsMax, rowsMax, rowsExact, rowsLeft } = price
  const lost = malformed.filter(({ withZero }) => withZero !== null)
  const most = rowsExact ?? rowsMax
  const number = (value: number | null) => (value === null ? 'no limit' : count(stdout, value))
  const short = most !== null && rowsLeft !== null && most > rowsLeft
  const notes = [...list.notes]
  const range = [...new Set([requestsMin, requestsMax].map(number))].join(' to ')
  const mostText = rowsMax === null ? 'unknown; --exact counts them' : `at most ${number(rowsMax)}`
  const costText =
    rowsExact === null
      ? `rows that it can cost: ${mostText}`
      : `rows that it costs: ${number(rowsExact)}`
  return {
    json: {
      ...{ lines, keys: keys.size, malformed: malformed.length, zeros_lost: lost.length },
      columns: names,
      requests: { min: requestsMin, max: requestsMax },
      ...{ rows_max: rowsMax, rows_exact: rowsExact, rows_left: rowsLeft, notes },
    },
    lines: [
      `${list.file}: ${[list.encoding, list.sheet].filter(Boolean).join()}, ` +
        amountOf(stdout, lines, 'line'),
      `keys: ${count(stdout, keys.size)} different, ${count(stdout, malformed.length)} malformed` +
        linesText(malformed),
      ...(lost.length > 0
        ? [`zeros lost: ${many(lost.length, 'key')}${linesText(lost)}; put back by --add-zeros`]
        : []),
      ...(read.restored > 0 ? [`zeros put back: ${many(read.restored, 'key')}`] : []),
      ...(names.length > 0 ? [`new columns: ${names.join(', ')}`] : []),
      `requests: ${range}`,
      costText,
      `rows left: ${number(rowsLeft)}${short ? ', which may not be enough' : ''}`,
      ...notes,
    ],
  }
}

/** Where the first of some lines are. */
function linesText(malformed: readonly MalformedLine[]): string {
  if (malformed.length === 0) return ''
  const shown = malformed.map(({ line, text, withZero }) => {
    const key = withZero === null ? quoted(text) : `${text} → ${withZero}`
    return `line ${line}: ${key}`
  })
  return ` (${listed(shown)})`
}

/** What was done with a list. */
export function enrichedResult(
  { stdout }: CliParts,
  out: string,
  { lines, keys, restored }: ListKeys,
  written: WrittenList,
  { charged, versions }: Answers,
): Result {
  const { found, notFound, malformed, notes } = written
  return {
    json: {
      ...{ out, lines, keys: keys.size, found, not_found: notFound, malformed, restored },
      ...{ rows_charged: charged, versions: [...versions], notes },
    },
    lines: [
      `${out}: ${amountOf(stdout, lines, 'line')}, ${count(stdout, found)} found, ` +
        `${count(stdout, notFound)} not found, ${count(stdout, malformed)} malformed; ` +
        `${amountOf(stdout, charged, 'row')} charged`,
      ...notes,
    ],
  }
}
