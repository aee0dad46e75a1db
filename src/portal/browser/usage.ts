import type { AccountDescription } from '../../service/account.js'
import { ask } from './ask.js'
import { button, element, svgElement } from './element.js'
import { words } from './page-words.js'
import { forgetToken, keepToken, ownToken } from './token.js'

/** Builds the usage page: a place for the token, and what its account says. */
export function startUsage(place: HTMLElement): void {
  const input = element('input', {
    id: 'token',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
  })
  const status = element('p', { role: 'status', class: 'status' })
  const account = element('div')
  const forget = button(words.forget, () => {
    forgetToken()
    input.value = ''
    status.textContent = ''
    account.replaceChildren()
    forget.hidden = true
    input.focus()
  })
  const show = async (token: string) => {
    status.textContent = words.asking
    const answer = await ask('/v1/account', token)
    status.classList.toggle('error', answer.kind === 'refused')
    status.textContent = answer.kind === 'refused' ? (answer.detail ?? words.failed) : ''
    if (answer.kind === 'refused') return account.replaceChildren()
    keepToken(token)
    forget.hidden = false
    account.replaceChildren(...accountView(JSON.parse(answer.text) as AccountDescription))
  }
  const form = element(
    'form',
    { class: 'line' },
    element('label', { for: 'token' }, words.token),
    input,
    element('button', { class: 'primary' }, words.show),
    forget,
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void show(input.value.trim())
  })
  forget.hidden = true
  place.replaceChildren(form, status, account)
  const known = ownToken()
  if (known !== null) void show(known)
}

function accountView(account: AccountDescription): readonly HTMLElement[] {
  const { subscription, expires_at: expiresAt, rate_limit: rate, global, datasets } = account
  const everything = global
    ? [{ name: words.overAll, plan: '', rows: global, resets_at: global.resets_at }]
    : []
  return [
    facts([
      [words.subscription, subscription],
      [words.expires, expiresAt === null ? words.noEnd : words.day(expiresAt)],
      [words.rate, words.number(rate.per_minute)],
    ]),
    element('h2', {}, words.thisMonth),
    table(
      [words.dataset, words.plan, words.used, words.left, words.limit, words.resets],
      [...datasets, ...everything].map(budgetCells),
    ),
    element('h2', {}, words.months),
    ...monthsView(account.months),
  ]
}

function facts(entries: readonly (readonly [string, string])[]): HTMLElement {
  const pairs = entries.map(([name, value]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value)),
  )
  return element('dl', { class: 'facts' }, ...pairs)
}

type Cell = string | HTMLElement

interface Budget {
  readonly name: string
  readonly plan: string
  readonly rows: AccountDescription['datasets'][number]['rows']
  readonly resets_at: string | null
}

function budgetCells({ name, plan, rows, resets_at: resetsAt }: Budget): readonly Cell[] {
  if (rows.limit === null) return [name, plan, words.unlimited, '', '', '']
  const used = element(
    'span',
    { class: 'used' },
    words.number(rows.used),
    element('meter', { max: rows.limit, value: rows.used, 'aria-label': `${words.used}: ${name}` }),
  )
  const resets = resetsAt === null ? '' : words.day(resetsAt)
  return [name, plan, used, words.number(rows.remaining), words.number(rows.limit), resets]
}

function table(titles: readonly string[], rows: readonly (readonly Cell[])[]): HTMLElement {
  const head = titles.map((title) => element('th', { scope: 'col' }, title))
  const body = rows.map(([first = '', ...rest]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, first),
      ...rest.map((cell) => element('td', {}, cell)),
    ),
  )
  return element(
    'div',
    { class: 'wide', role: 'region', tabindex: 0, 'aria-label': titles.join(', ') },
    element(
      'table',
      {},
      element('thead', {}, element('tr', {}, ...head)),
      element('tbody', {}, ...body),
    ),
  )
}

function monthsView(months: AccountDescription['months']): readonly HTMLElement[] {
  const used = months.filter(({ rows }) => rows > 0)
  if (used.length === 0) return [element('p', { class: 'muted' }, words.noUsage)]
  const totals = new Map<string, number>()
  for (const { month, rows } of months) totals.set(month, (totals.get(month) ?? 0) + rows)
  return [
    monthBars([...totals]),
    table(
      [words.month, words.dataset, words.rows],
      used.map(({ month, dataset, rows }) => [words.monthName(month), dataset, words.number(rows)]),
    ),
  ]
}

const barHeight = 28
const barsWidth = 480
const labelWidth = 96
const numberWidth = 96

/** A bar for each month; the table below says the same. */
function monthBars(totals: readonly (readonly [string, number])[]): HTMLElement {
  const most = Math.max(...totals.map(([, rows]) => rows))
  const height = totals.length * barHeight
  const bars = totals.flatMap(([month, rows], index) => {
    const width = (rows / most) * (barsWidth - labelWidth - numberWidth)
    const middle = index * barHeight + barHeight / 2
    return [
      svgElement('text', { x: 0, y: middle + 4 }, words.monthName(month)),
      svgElement('rect', { class: 's0', x: labelWidth, y: middle - 8, width, height: 16, rx: 3 }),
      svgElement('text', { x: labelWidth + width + 8, y: middle + 4 }, words.number(rows)),
    ]
  })
  return element(
    'figure',
    { class: 'chart bars' },
    svgElement(
      'svg',
      { role: 'img', 'aria-label': words.months, viewBox: `0 0 ${barsWidth} ${height}` },
      ...bars,
    ),
  )
}
