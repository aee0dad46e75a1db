import t from 'tap'
import { endAttempt, listLetters, takeLetter } from '../../../src/control/letters.js'
import { renderText } from '../../../src/sales/letters/render.js'
import { writeLetter } from '../../../src/sales/letters/write-letter.js'
import { requestCode } from '../../../src/sales/codes.js'
import { sql } from '../../../src/control/store/sql.js'
import { noon, openStore } from '../../control/fixtures/store.js'

const order = {
  orderId: 'ord_0123456789abcdef',
  kind: 'renew',
  subscriptionId: 'sub_0123456789abcdef',
  buyer: null,
  items: [{ title: 'Things', dataset: 'things', plan: 'pro', offer: null }],
  months: 12,
  amountRub: 39_000,
  payUntil: Date.UTC(2026, 10, 29, 12),
} as const

await t.test('a code is alone on its line, in both languages', (t) => {
  const topic = { kind: 'code', code: '01234567', purpose: 'order', site: 'a.example' } as const
  const english = writeLetter('en', topic)
  t.equal(
    renderText(english),
    `Your code to order access on a.example:

    01234567

Type it into the page that asked for it, within 10 minutes. Do not pass it on.

If you did not ask for a code, do nothing: without it nothing happens.

This e-mail was sent automatically.
`,
  )
  t.notMatch(english.subject, '01234567', 'a subject is shown on locked screens')
  const russian = writeLetter('ru', { ...topic, purpose: 'lost-token' })
  t.match(
    renderText(russian),
    'Ваш код, чтобы получить новый токен на a.example:\n\n    01234567\n',
  )
  t.end()
})

await t.test('a code for an agent says who gets the access', (t) => {
  const topic = { kind: 'connect-code', code: '01234567', site: 'a.example', app: '' } as const
  const local = { ...topic, target: { kind: 'computer' } } as const
  t.match(
    renderText(writeLetter('en', local)),
    'The agent gave itself no name. The code gives access to an app on the computer where you',
  )
  const app = { ...topic, app: 'Cursor', target: { kind: 'app', scheme: 'cursor' } } as const
  t.match(renderText(writeLetter('en', app)), 'access to an app that opens cursor:// links')
  t.match(
    renderText(writeLetter('ru', app)),
    'Агент называет себя «Cursor», имя не проверено. Доступ по этому коду получит приложение,',
  )
  t.match(renderText(writeLetter('ru', local)), 'Агент не указал имени.')
  t.end()
})

await t.test('letters about an order say what it is, its price and its number', (t) => {
  const received = writeLetter('en', { kind: 'order-received', order, payment: 'Pay.' })
  t.equal(received.subject, 'Your order ord_0123456789abcdef: how to pay')
  t.equal(
    renderText(received),
    `Thank you. Your order ord_0123456789abcdef waits for its payment:

- Things (things), plan pro
- Time: 12 months
- Amount: 39,000 RUB
- To be paid by 29 November 2026, 12:00 UTC

Pay.

This e-mail was sent automatically.
`,
  )
  const told = { kind: 'new-order', order, email: 'a@b.example', link: null } as const
  const notice = writeLetter('ru', told)
  const buyer = { name: 'ООО «Ромашка»', inn: '7707083893', kpp: null, address: null }
  t.match(
    renderText(writeLetter('ru', { ...told, order: { ...order, buyer } })),
    '- Для организации: ООО «Ромашка», ИНН 7707083893\n',
  )
  t.match(renderText(notice), 'a@b.example заказывает продление sub_0123456789abcdef:')
  t.match(renderText(notice), '    das order confirm ord_0123456789abcdef\n')
  const declined = writeLetter('ru', { kind: 'order-declined', order })
  t.match(renderText(declined), 'Не оплачивайте его.')
  t.end()
})

// Guarantee: asking for a code leaves nothing behind that can't be removed.
await t.test('a sent code is not in the audit trail, and its letter keeps no code', async (t) => {
  const store = openStore(t)
  const key = Buffer.alloc(32, 1)
  await requestCode(
    { store, key, mailKey: key, now: () => noon, sendLetters: () => undefined },
    { purpose: 'order', email: 'a@b.example', language: 'en', address: '127.0.0.1', subject: null },
  )
  const letter = await takeLetter(store, { now: noon, holdMs: 1, waitMaxMs: 1 })
  if (letter === undefined) throw new Error('no letter waits')
  await endAttempt(store, letter, { state: 'sent', now: noon })
  t.match(await listLetters(store, ['sent']), [{ kind: 'code', sealedSecret: null }])
  t.same(await store.all(sql`SELECT * FROM audit`), [])
  t.end()
})
