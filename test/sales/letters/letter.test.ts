import t from 'tap'
import type { Language } from '../../../src/config.js'
import type {
  LetterFacts,
  LetterGrant,
  LetterSubscription,
} from '../../../src/sales/letters/letter.js'
import { writeLetter } from '../../../src/sales/letters/write-letter.js'
import { renderHtml, renderText } from '../../../src/sales/letters/render.js'

const token = `das_live_${'Ab3'.repeat(16)}x`
const base = 'https://data.example.org'
const space = '\u00a0'

const pro: LetterGrant = {
  title: 'Statements',
  dataset: 'financials',
  plan: 'pro',
  offer: { rowsPerMonth: 500_000, history: 'all' },
}

const subscription: LetterSubscription = {
  subscriptionId: 'sub_0123456789abcdef',
  expiresAt: Date.UTC(2026, 11, 15, 12),
  grants: [pro],
  globalRows: null,
}

type Kind = 'new-token' | 'reissued-token' | 'reminder' | 'connection-made'
/** A letter to a subscriber, without the subscription. */
type Topic = {
  readonly [Each in Kind]: { readonly kind: Each } & Omit<LetterFacts[Each], 'subscription'>
}[Kind]

const bought: Topic = { kind: 'new-token', token, base, receipt: null }
const reissued: Topic = { kind: 'reissued-token', token, base, previousValidUntil: null }

function textOf(topic: Topic, language: Language, changed: Partial<LetterSubscription> = {}) {
  return renderText(
    writeLetter(language, { ...topic, subscription: { ...subscription, ...changed } }),
  )
}

function withOffer(rowsPerMonth: number, history: number | 'all' = 'all'): LetterSubscription {
  return { ...subscription, grants: [{ ...pro, offer: { rowsPerMonth, history } }] }
}

await t.test('the letter of a new token says what was bought and how to use it', (t) => {
  t.equal(
    textOf(bought, 'en', { globalRows: 1000 }),
    `Thank you for your order. Until 15 December 2026, 12:00 UTC, you have access to:

- Statements (financials), plan pro: 500,000 rows a month, the whole history
- Over all datasets together: 1,000 rows a month

Your token:

    ${token}

To look at the data in a browser, sign in with this e-mail address; no token is needed:

    ${base}/sign-in?next=/

Programs send it with every request, in the header Authorization. To try it, run:

    curl -H 'Authorization: Bearer ${token}' '${base}/v1/'

AI assistants that speak MCP connect with the same header; the address of the server is:

    ${base}/mcp/

An assistant that asks for nothing but an address gets the same one, and opens a page where you paste the token.

Keep the token secret: anyone who has it can read the data in your name. If it is lost, or someone else may have seen it, reply to this e-mail and ask for a new one.

Subscription sub_0123456789abcdef. This e-mail was sent automatically.
`,
  )
  const russian = textOf(bought, 'ru')
  t.match(russian, 'До 15 декабря 2026 г., 12:00 UTC вам открыт доступ:')
  t.match(
    russian,
    `- Statements (financials), тариф pro: 500${space}000 строк в месяц, вся история\n`,
  )
  t.match(russian, `    curl -H 'Authorization: Bearer ${token}' '${base}/v1/'\n`)
  t.match(russian, `    ${base}/mcp/\n\nАссистенту, который спрашивает только адрес`)
  t.end()
})

await t.test('the letter of a new token says when the earlier ones end', (t) => {
  const later = { ...reissued, previousValidUntil: Date.UTC(2026, 10, 16, 9, 30) }
  t.match(textOf(later, 'en'), 'Earlier tokens work until 16 November 2026, 09:30 UTC.')
  t.match(textOf(later, 'ru'), 'Прежние токены действуют до 16 ноября 2026 г., 09:30 UTC.')
  t.match(textOf(reissued, 'en'), 'Earlier tokens no longer work.')
  t.match(textOf(reissued, 'ru'), 'Прежние токены больше не действуют.')
  t.end()
})

await t.test(
  'a reminder says when the subscription ends, what is lost, and how to extend it',
  (t) => {
    const week: Topic = { kind: 'reminder', daysLeft: 7, base }
    const english = textOf(week, 'en')
    t.match(
      english,
      'Your subscription ends on 15 December 2026, 12:00 UTC, in 7 days. It includes:',
    )
    t.match(english, 'reply to this e-mail. After that date the tokens')
    t.match(english, 'an extension makes them work again')
    t.match(textOf(week, 'ru'), 'закончится 15 декабря 2026 г., 12:00 UTC, через 7 дней.')
    t.match(english, `${base}/sign-in`, 'the way to the data')
    t.notMatch(english, /das_live/)
    t.end()
  },
)

await t.test('the letter of a new connection says who has access, and how to end it', (t) => {
  const made: Extract<Topic, { kind: 'connection-made' }> = {
    kind: 'connection-made',
    app: 'Claude',
    target: { kind: 'site', host: 'claude.ai' },
    connectedAt: Date.UTC(2026, 10, 15, 12),
    madeBy: 'token',
    isOver: false,
    accountUrl: `${base}/account`,
  }
  t.equal(
    textOf(made, 'en'),
    `An agent was connected with a token of your subscription on 15 November 2026, 12:00 UTC. The subscription includes:

- Statements (financials), plan pro: 500,000 rows a month, the whole history

It calls itself “Claude”; this name is not verified. Access went to claude.ai.

If you connected it, there is nothing to do: you can end it at any time on your account page. If not, someone else has your token. End the connection there, get a new token, and choose that the old one stops working at once:

    ${base}/account

Subscription sub_0123456789abcdef. This e-mail was sent automatically.
`,
  )
  const russian = textOf({ ...made, isOver: true }, 'ru')
  t.match(russian, '15 ноября 2026 г., 12:00 UTC с токеном вашей подписки был подключён агент.')
  t.match(
    russian,
    'Он называет себя «Claude»; это имя никто не проверял. Доступ получил: claude.ai.',
  )
  t.match(russian, 'С тех пор подключение завершено.\n')
  t.match(russian, `    ${base}/account\n`)
  const byMail = { ...made, madeBy: 'mail' } as const
  t.match(textOf(byMail, 'en'), 'An agent was connected with a code that was mailed to you on 15')
  t.match(
    textOf(byMail, 'en'),
    'Change the password of your mailbox, and end the connection there:',
  )
  t.match(textOf(byMail, 'ru'), 'UTC по коду, присланному на этот адрес, был подключён агент.')
  t.match(textOf(byMail, 'ru'), 'Смените пароль почтового ящика и завершите там подключение:')
  const unnamed = { ...made, app: '', target: { kind: 'app', scheme: 'cursor' } } as const
  t.match(textOf(unnamed, 'en'), 'gave itself no name. Access went to an app that opens cursor://')
  const local = { ...made, target: { kind: 'computer' } } as const
  t.match(textOf(local, 'en'), 'Access went to an app on the computer of the person who connected')
  t.match(textOf(local, 'ru'), 'Доступ получил: приложение на компьютере того, кто его подключил.')
  t.end()
})

await t.test('numbers and words agree in both languages', (t) => {
  const cases: [count: number, english: string, russian: string][] = [
    [1, '1 row a', '1 строка в'],
    [2, '2 rows a', '2 строки в'],
    [5, '5 rows a', '5 строк в'],
    [11, '11 rows a', '11 строк в'],
    [21, '21 rows a', '21 строка в'],
    [1234, '1,234 rows a', `1${space}234 строки в`],
    [3_000_000, '3,000,000 rows a', `3${space}000${space}000 строк в`],
  ]
  for (const [count, english, russian] of cases) {
    t.match(textOf(bought, 'en', withOffer(count)), english)
    t.match(textOf(bought, 'ru', withOffer(count)), russian)
  }
  const years: [years: number, english: string, russian: string][] = [
    [1, 'the latest year\n', 'последний год\n'],
    [2, 'the latest 2 years\n', 'последние 2 года\n'],
    [5, 'the latest 5 years\n', 'последние 5 лет\n'],
    [21, 'the latest 21 years\n', 'последний 21 год\n'],
  ]
  for (const [count, english, russian] of years) {
    t.match(textOf(bought, 'en', withOffer(1, count)), english)
    t.match(textOf(bought, 'ru', withOffer(1, count)), russian)
  }
  for (const [daysLeft, english, russian] of [
    [1, 'in 1 day.', 'через 1 день.'],
    [3, 'in 3 days.', 'через 3 дня.'],
    [7, 'in 7 days.', 'через 7 дней.'],
  ] as const) {
    t.match(textOf({ kind: 'reminder', daysLeft, base }, 'en'), english)
    t.match(textOf({ kind: 'reminder', daysLeft, base }, 'ru'), russian)
  }
  t.end()
})

await t.test('a subject is one short line, and never holds the token', (t) => {
  const subjectOf = (topic: Topic, language: Language, grants: readonly LetterGrant[]) =>
    writeLetter(language, { ...topic, subscription: { ...subscription, grants } }).subject
  const reminder: Topic = { kind: 'reminder', daysLeft: 2, base }
  t.equal(subjectOf(bought, 'en', [pro]), 'Your access to Statements')
  t.equal(subjectOf(bought, 'ru', [pro]), 'Ваш доступ: Statements')
  t.equal(subjectOf(reissued, 'en', [pro, pro]), 'A new token for 2 datasets')
  t.equal(subjectOf(reissued, 'ru', [pro, pro]), 'Новый токен для доступа к 2 наборам данных')
  t.equal(subjectOf(reminder, 'en', [pro]), 'Access to Statements ends in 2 days')
  t.equal(subjectOf(reminder, 'ru', [pro]), 'Через 2 дня закончится доступ: Statements')
  const long = [{ ...pro, title: `Ы\n${'x'.repeat(500)}` }]
  for (const topic of [bought, reissued, reminder]) {
    for (const language of ['en', 'ru'] as const) {
      const subject = subjectOf(topic, language, long)
      t.ok(subject.length < 110)
      t.notMatch(subject, /\n|das_live/)
    }
  }
  t.end()
})

await t.test('a plan that left the registry is named and not described', (t) => {
  const grants = [{ ...pro, title: 'financials', offer: null }]
  t.match(textOf(bought, 'en', { grants }), '- financials (financials), plan pro\n')
  t.match(textOf(bought, 'ru', { grants }), '- financials (financials), тариф pro\n')
  t.end()
})

await t.test('the HTML has the contents of the text, escaped, and loads no resources', (t) => {
  const grants = [{ ...pro, title: `<b onload="x">&'` }]
  const letter = writeLetter('ru', { ...bought, subscription: { ...subscription, grants } })
  const html = renderHtml(letter, 'ru')
  t.match(html, '<html lang="ru">')
  t.match(html, '&#60;b onload=&#34;x&#34;&#62;&#38;&#39; (financials)')
  t.notMatch(html, '<b ')
  t.match(html, `>${token}</pre>`)
  t.match(html, '<meta name="color-scheme" content="light dark">')
  t.notMatch(html, /src=|href=|url\(|@import|<img|<link|<script|color: /)
  t.end()
})
