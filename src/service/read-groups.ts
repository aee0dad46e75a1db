import type { Cache } from '../cache.js'
import type { Summarized } from '../engine/engine.js'
import { checkValues, seenValues, usedValues } from '../query/summary/pivot.js'
import type { AskedPivot } from '../query/summary/pivot.js'
import { withPivot } from '../query/summary/resolve-summary.js'
import type { ResolvedSummary } from '../query/summary/resolve-summary.js'
import type { ServedValue, Summary } from '../query/summary.js'
import { textOfJson, textsOf } from '../row-texts.js'
import { rowsKey } from './descriptions.js'
import { keptAnswer } from './paid/kept-answers.js'
import type { FoundGroups } from './paid/paid-groups.js'
import type { Ready } from './paid/payment.js'

/** The groups of a summary, those of a pivot with its values as columns. */
export async function readGroups(
  ready: Ready<ResolvedSummary>,
  kept: Cache<Summarized>,
  ask: (summary: Summary) => Promise<Summarized>,
): Promise<FoundGroups> {
  const { resolved, head } = ready
  const { pivot, summary } = resolved
  if (pivot) return readPivot(ready, pivot, kept, ask)
  return { whole: resolved, found: await keptAnswer(kept, head.tag, () => ask(summary)) }
}

async function readPivot(
  { resolved, head }: Ready<ResolvedSummary>,
  pivot: AskedPivot,
  kept: Cache<Summarized>,
  ask: (summary: Summary) => Promise<Summarized>,
): Promise<FoundGroups> {
  const { access, summary } = resolved
  const read = (key: string, asked: Summary) => keptAnswer(kept, key, () => ask(asked))
  const seenKey = `${rowsKey(access)} ${JSON.stringify([pivot.group.name, pivot.group.by])}`
  const seen = await read(seenKey, seenValues(summary, pivot, access))
  checkValues(summary, pivot, seen.rows.map(firstValue))
  const used = await read(`${head.tag} values`, usedValues(summary, pivot))
  const first = pivot.hasRest
    ? await read(`${head.tag} groups`, { ...summary, format: 'json' })
    : null
  const shown = first?.rows.map(firstValue) ?? null
  const whole = withPivot(resolved, used.rows.map(firstValue), shown)
  const found = await read(head.tag, whole.summary)
  if (!first) return { whole, found }
  return { whole, found: { ...found, groups: first.groups, rows: found.rows.map(withoutRest) } }
}

/** The text of a group's key. */
function firstValue(row: Buffer): ServedValue {
  const [cell = 'null'] = textsOf(String(row)).cells
  return cell === 'null' ? null : textOfJson(cell)
}

const notRest = Buffer.from(',"rest":null}')

/** A group that is not the rest does not say so in JSON. */
function withoutRest(row: Buffer): Buffer {
  if (!row.subarray(-notRest.length).equals(notRest)) return row
  return Buffer.concat([row.subarray(0, -notRest.length), Buffer.from('}')])
}
