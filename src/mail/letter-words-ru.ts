import { dateWriter, numberWriter, pluralChooser, shortTitle } from '../wording.js'
import type { RedirectTarget } from '../control/connections/redirect-target.js'
import type { LetterGrant, LetterTopic, LetterWords } from './letter-content.js'

const number = numberWriter('ru')
const date = dateWriter('ru')
const plural = pluralChooser('ru')

const rowForms = { one: 'строка', few: 'строки', other: 'строк' }
const dayForms = { one: 'день', few: 'дня', other: 'дней' }
const yearForms = { one: 'год', few: 'года', other: 'лет' }
const monthForms = { one: 'месяц', few: 'месяца', other: 'месяцев' }
const datasetForms = { one: 'набору данных', other: 'наборам данных' }

const rows = (count: number) => `${number(count)} ${plural(count, rowForms)}`
const days = (count: number) => `${number(count)} ${plural(count, dayForms)}`

/** Letters in Russian. */
export const russianLetterWords: LetterWords = {
  subject,
  opening,
  grant: ({ title, dataset, plan, offer }) => {
    const name = `${title} (${dataset}), тариф ${plan}`
    if (offer === null) return name
    return `${name}: ${rows(offer.rowsPerMonth)} в месяц, ${historyText(offer.history)}`
  },
  globalRows: (count) => `По всем наборам вместе: ${rows(count)} в месяц`,
  receipt: ({ orderId, months, amountRub }) => {
    const time = months === null ? '' : ` на ${number(months)} ${plural(months, monthForms)}`
    const price = amountRub === 0 ? 'бесплатно' : `${number(amountRub)} ₽, оплачен`
    return `Заказ ${orderId}${time}: ${price}.`
  },
  yourToken: 'Ваш токен:',
  useToken: 'Передавайте его с каждым запросом в заголовке Authorization. Проверить можно так:',
  useMcp: 'ИИ-ассистенты с поддержкой MCP подключаются с тем же заголовком; адрес сервера:',
  useAddress:
    'Ассистенту, который спрашивает только адрес, укажите этот же: откроется страница, ' +
    'куда нужно вставить токен.',
  keepSecret:
    'Храните токен в секрете: любой, у кого он есть, сможет читать данные от вашего имени. Если ' +
    'он потерян или его мог увидеть кто-то другой, ответьте на это письмо и попросите новый.',
  goOn:
    'Чтобы продлить подписку, ответьте на это письмо. После этой даты токены подписки не ' +
    'будут приниматься; после продления они заработают снова.',
  agent: ({ app }) =>
    app === '' ? 'Имени он не указал.' : `Он называет себя «${app}»; это имя никто не проверял.`,
  receiver: (target) => `Доступ получил: ${receiverText(target)}.`,
  connectionOver: 'С тех пор подключение завершено.',
  endConnection: {
    token:
      'Если его подключили вы, ничего делать не нужно: завершить подключение можно в любой ' +
      'момент на странице подписки. Если не вы, ваш токен есть у кого-то ещё. Завершите там ' +
      'подключение, получите новый токен и отметьте, чтобы прежний сразу перестал действовать:',
    mail:
      'Если его подключили вы, ничего делать не нужно: завершить подключение можно в любой ' +
      'момент на странице подписки. Если не вы, вашу почту читает кто-то ещё. Смените пароль ' +
      'почтового ящика и завершите там подключение:',
  },
  signature: (id) => `Подписка ${id}. Это письмо отправлено автоматически.`,
}

function subject(topic: LetterTopic, grants: readonly LetterGrant[]): string {
  const [first] = grants
  const name =
    grants.length === 1 && first
      ? `: ${shortTitle(first.title)}`
      : ` к ${number(grants.length)} ${plural(grants.length, datasetForms)}`
  switch (topic.kind) {
    case 'new-token':
      return `Ваш доступ${name}`
    case 'reissued-token':
      return `Новый токен для доступа${name}`
    case 'reminder':
      return `Через ${days(topic.daysLeft)} закончится доступ${name}`
    case 'order-confirmed':
      return `Заказ выполнен, открыт доступ${name}`
    case 'connection-made':
      return `Агент получил доступ${name}`
  }
}

function opening(topic: LetterTopic, { expiresAt }: { readonly expiresAt: number }): string {
  const end = date(expiresAt)
  switch (topic.kind) {
    case 'new-token':
      return `Спасибо за заказ. До ${end} вам открыт доступ:`
    case 'reissued-token':
      return (
        `Высылаем новый токен. ${previousText(topic.previousValidUntil)} ` +
        `До ${end} вам открыт доступ:`
      )
    case 'reminder':
      return `Ваша подписка закончится ${end}, через ${days(topic.daysLeft)}. В подписку входит:`
    case 'order-confirmed':
      return `Спасибо. Токен остался прежним. До ${end} вам открыт доступ:`
    case 'connection-made':
      return (
        `${date(topic.connectedAt)} ${meansText[topic.madeBy]} был подключён агент. ` +
        'В подписку входит:'
      )
  }
}

const meansText = {
  token: 'с токеном вашей подписки',
  mail: 'по коду, присланному на этот адрес,',
} as const

function receiverText(target: RedirectTarget): string {
  switch (target.kind) {
    case 'site':
      return target.host
    case 'computer':
      return 'приложение на компьютере того, кто его подключил'
    case 'app':
      return `приложение, которое открывает ссылки ${target.scheme}://`
  }
}

function previousText(validUntil: number | null): string {
  if (validUntil === null) return 'Прежние токены больше не действуют.'
  return `Прежние токены действуют до ${date(validUntil)}.`
}

function historyText(history: number | 'all'): string {
  if (history === 'all') return 'вся история'
  if (history === 1) return 'последний год'
  const last = plural(history, { one: 'последний', other: 'последние' })
  return `${last} ${number(history)} ${plural(history, yearForms)}`
}
