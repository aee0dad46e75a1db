import type { AccountDescription } from '../../../service/answer-schemas.js'
import { barList } from '../chart/bar-list.js'
import { shortValues } from '../../chart/short-values.js'
import { element } from '../element.js'
import { words } from '../page-words.js'
import { facts, table } from './account-parts.js'
import type { Cell } from './account-parts.js'

/** The titles of listed datasets and of their plans, as `dataset:plan`. The server wrote them. */
const { titles: titlesText = '[]' } = document.getElementById('account-app')?.dataset ?? {}
const titles = new Map(JSON.parse(titlesText) as readonly [name: string, title: string][])

interface Budget {
  readonly name: string
  readonly plan: string
  readonly rows: AccountDescription['datasets'][number]['rows']
  readonly resets_at: string | null
}

/** What a token may do and has used, this month and before. */
export function usageView(account: AccountDescription): readonly HTMLElement[] {
  const { subscription, expires_at: expiresAt, rate_limit: rate, global, datasets } = account
  const overAll = global ? [{ ...global, name: words.overAll, plan: '', rows: global }] : []
  return [
    facts([
      [words.subscription, subscription],
      [words.expires, expiresAt === null ? words.noEnd : words.day(expiresAt)],
      [words.requestsPerMinute, words.number(rate.per_minute)],
    ]),
    element('h2', {}, words.thisMonth),
    table(
      words.thisMonth,
      [words.dataset, words.plan, words.used, words.left, words.rowsPerMonth, words.resets],
      [...datasets, ...overAll].map(budgetCells),
    ),
    element('h2', {}, words.months),
    ...monthsView(account.months),
  ]
}

function budgetCells({ rows, resets_at: resetsAt, ...of }: Budget): readonly Cell[] {
  const [name, plan] = [
    titles.get(of.name) ?? of.name,
    titles.get(`${of.name}:${of.plan}`) ?? of.plan,
  ]
  if (rows.limit === null) return [name, plan, words.unlimited, '', '', '']
  const { used, limit, remaining } = rows
  const meter = element('meter', {
    max: limit,
    value: used,
    'aria-label': `${words.used}: ${name}`,
  })
  return [
    name,
    plan,
    element('span', { class: 'used' }, words.number(used), meter),
    words.number(remaining),
    words.number(limit),
    resetsAt === null ? '' : words.day(resetsAt),
  ]
}

function monthsView(months: AccountDescription['months']): readonly HTMLElement[] {
  const used = months.filter(({ rows }) => rows > 0)
  if (used.length === 0) return [element('p', { class: 'muted' }, words.noUsage)]
  const cells = used.map(({ month, dataset, rows }) => [
    words.monthName(month),
    titles.get(dataset) ?? dataset,
    words.number(rows),
  ])
  return [monthBars(months), table(words.months, [words.month, words.dataset, words.rows], cells)]
}

/** Draws a bar for the rows of each month. A table beside it shows the same numbers. */
function monthBars(months: AccountDescription['months']): HTMLElement {
  const totals = new Map<string, number>()
  for (const { month, rows } of months) totals.set(month, (totals.get(month) ?? 0) + rows)
  const bars = [...totals].map(([month, rows]) => ({
    name: words.monthName(month),
    xText: month,
    y: rows,
    yText: String(rows),
  }))
  const short = shortValues(document.documentElement.lang, '')
  return element('figure', { class: 'chart', 'aria-label': words.months }, barList(bars, short))
}
