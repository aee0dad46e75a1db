import { dateWriter, numberWriter, pluralChooser, shortTitle } from '../wording.js'
import type { LetterGrant, LetterTopic, LetterWords } from './letter-content.js'

const number = numberWriter('ru')
const date = dateWriter('ru')
const plural = pluralChooser('ru')

const rowForms = { one: 'строка', few: 'строки', other: 'строк' }
const dayForms = { one: 'день', few: 'дня', other: 'дней' }
const yearForms = { one: 'год', few: 'года', other: 'лет' }
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
  yourToken: 'Ваш токен:',
  useToken: 'Передавайте его с каждым запросом в заголовке Authorization. Проверить можно так:',
  useMcp: 'ИИ-ассистенты с поддержкой MCP подключаются с тем же заголовком; адрес сервера:',
  keepSecret:
    'Храните токен в секрете: любой, у кого он есть, сможет читать данные от вашего имени. Если ' +
    'он потерян или его мог увидеть кто-то другой, ответьте на это письмо и попросите новый.',
  goOn:
    'Чтобы продлить подписку, ответьте на это письмо. После этой даты токены подписки не ' +
    'будут приниматься; после продления они заработают снова.',
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
