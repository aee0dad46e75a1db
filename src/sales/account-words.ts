import type { Language } from '../config.js'
import type { ConnectionState } from '../control/connections/connections.js'
import type { Delivery } from '../control/hooks/deliveries.js'
import type { EventType, Webhook } from '../control/hooks/webhooks.js'
import type { Order, OrderKind, OrderState } from '../control/orders.js'
import type { PageContext } from '../portal/page-context.js'
import { isoTime } from '../text.js'

const english = {
  subscriptionOrders: 'Renew, change, orders',
  writeTo: 'To renew or change the subscription, write to',
  renew: 'Renew',
  renewText: 'More months begin where the time that is paid ends.',
  renewFree: (months: string) => `Free plans are renewed for ${months}.`,
  renewEffect: (end: string) => `The subscription then ends on ${end}.`,
  change: 'Change plans',
  changeText:
    'A dearer plan costs the monthly difference for each month that is left, also a begun one; ' +
    'of a year ten count. With less than a month left, it costs a month of all plans less what ' +
    'is unused, and the subscription then ends a month after the confirmation. A cheaper plan ' +
    'takes effect at the end of the paid time. The rows of this month stay counted.',
  changeEffect: (end: string) => `The end stays ${end}.`,
  changeMoves: (end: string) =>
    `The subscription ends a month after the confirmation: confirmed today, on ${end}.`,
  changeLater: (plans: string) => `From its end on: ${plans}.`,
  removed: 'removed',
  asNow: (plan: string) => `${plan}, as now`,
  asScheduled: (plan: string, later: string) =>
    `${plan} until the end of the paid time, then ${later}`,
  notAdded: 'not added',
  showPrice: 'Show the price',
  price: 'Price',
  orders: 'Orders',
  noOrders: 'Nothing was ordered so far.',
  orderKinds: {
    new: 'a new subscription',
    renew: 'more months',
    change: 'other plans',
  } as Readonly<Record<OrderKind, string>>,
  orderStates: {
    waiting: 'waits for its payment',
    confirmed: 'done',
    declined: 'declined',
    expired: 'expired',
  } as Readonly<Record<OrderState, string>>,
  takesEffect: (on: string) => `takes effect on ${on}`,
  number: 'Number',
  orderedOn: 'Ordered on',
  doneOn: 'Done on',
  what: 'What',
  amount: 'Amount',
  plans: 'Plans',
  receipt: 'Receipt',
  papers: { invoice: 'Invoice', receipt: 'Receipt' },
  orderNumber: (order: string) => `Order ${order}`,

  reissue: 'A new token',
  reissueText:
    'If the token may be known to others, exchange it for a new one. A code is mailed to the ' +
    'address of the subscription; agents that signed in with the old token must sign in again.',
  codeSent: 'A code was mailed to the address of the subscription. It works for 10 minutes.',
  getToken: 'Get a new token',
  earlierUntil: (end: string) => `The old one works until ${end}.`,
  earlierEnded: 'The old one no longer works.',

  connections: 'Agents',
  connectionsText:
    'Programs that signed in with a token of this subscription. What they read counts toward its ' +
    'rows.',
  noConnections: 'No agent has signed in.',
  app: 'App',
  accessOf: 'Access goes to',
  connectedOn: 'Connected',
  lastUsedOn: 'Last used',
  state: 'State',
  action: 'Action',
  connectionStates: {
    live: 'connected',
    waiting: 'not connected yet',
    idle: 'idle for too long',
    revoked: 'ended',
    replayed: 'ended: its secret was used twice',
    disconnected: 'disconnected by the agent',
    displaced: 'ended: too many connections',
    replaced: 'ended with its token',
    expired: 'ended with the subscription',
    cancelled: 'ended with the subscription',
  } as Readonly<Record<ConnectionState, string>>,
  notYet: 'not yet',
  never: 'never',
  thisComputer: 'an app on your computer',
  end: 'End',
  endOf: (app: string) => `End the connection of ${app}`,

  webhooks: 'Webhooks',
  webhooksText: 'Addresses to which a signed message is sent when something happens.',
  noWebhooks: 'There are no webhooks.',
  url: 'Address (https)',
  events: 'Events',
  eventTypes: {
    'dataset.version': 'a new version of a dataset',
    'quota.80': '80% of the rows are used',
    'quota.used': 'all rows are used',
    'subscription.ending': 'the subscription ends soon',
  } as Readonly<Record<EventType, string>>,
  webhookStates: {
    active: 'active',
    ended: 'ended: the receiver answered 410',
  } as Readonly<Record<Webhook['state'], string>>,
  watchList: 'Watch list',
  add: 'Add',
  remove: 'Delete',
  test: 'Send a test',
  tested: 'The test was delivered.',
  newSecret: 'New secret',
  secretShown: 'This is the secret. Copy it now: it is shown only once.',
  deliveries: 'Messages',
  deliveriesText: (url: string) => `Of the last 30 days, to ${url}.`,
  noDeliveries: 'There are no messages.',
  deliveryStates: {
    waiting: 'waits',
    sent: 'delivered',
    failed: 'given up',
  } as Readonly<Record<Delivery['state'], string>>,
  at: 'Time',
  attempts: 'Attempts',
  result: 'Last answer',
  resend: 'Send again',
  earlier: 'Earlier ones',
  watchLists: 'Watch lists',
  watchListsText:
    'Values of a column. A webhook that names a list is sent a new version only when something ' +
    'in the list changed.',
  noWatchLists: 'There are no watch lists.',
  name: 'Name',
  values: 'Values, one in each line',
  count: 'Values',
}

/** The texts of the account page in one language. */
type AccountWords = typeof english

const russian: AccountWords = {
  subscriptionOrders: 'Продление, тарифы, заказы',
  writeTo: 'Чтобы продлить или изменить подписку, напишите на',
  renew: 'Продлить',
  renewText: 'Новые месяцы начнутся, когда закончится оплаченное время.',
  renewFree: (months) => `Бесплатные тарифы продлеваются на ${months}.`,
  // A Russian date ends with a point: г.
  renewEffect: (end) => `Тогда подписка закончится ${end}`,
  change: 'Сменить тарифы',
  changeText:
    'Более дорогой тариф стоит месячную разницу за каждый оставшийся месяц, начатый тоже; за год ' +
    'считаются десять. Если осталось меньше месяца, он стоит месяц всех тарифов за вычетом ' +
    'неиспользованного, и подписка закончится через месяц после подтверждения. Более дешёвый ' +
    'тариф вступает в силу в конце оплаченного срока. Строки этого месяца остаются посчитанными.',
  changeEffect: (end) => `Срок прежний, до ${end}`,
  changeMoves: (end) =>
    `Подписка закончится через месяц после подтверждения: если оно сегодня, ${end}`,
  changeLater: (plans) => `С конца этого срока: ${plans}.`,
  removed: 'исключён',
  asNow: (plan) => `${plan}, как сейчас`,
  asScheduled: (plan, later) => `${plan} до конца оплаченного срока, затем ${later}`,
  notAdded: 'не добавлять',
  showPrice: 'Показать цену',
  price: 'Цена',
  orders: 'Заказы',
  noOrders: 'Заказов пока не было.',
  orderKinds: { new: 'новая подписка', renew: 'продление', change: 'другие тарифы' },
  orderStates: {
    waiting: 'ждёт оплаты',
    confirmed: 'выполнен',
    declined: 'отклонён',
    expired: 'истёк',
  },
  takesEffect: (on) => `вступит в силу ${on}`,
  number: 'Номер',
  orderedOn: 'Оформлен',
  doneOn: 'Завершён',
  what: 'Что',
  amount: 'Сумма',
  plans: 'Тарифы',
  receipt: 'Квитанция',
  papers: { invoice: 'Счёт', receipt: 'Квитанция' },
  orderNumber: (order) => `Заказ ${order}`,

  reissue: 'Новый токен',
  reissueText:
    'Если токен мог стать известен другим, замените его новым. Код придёт на адрес подписки; ' +
    'агентам, которые вошли со старым токеном, нужно будет войти снова.',
  codeSent: 'Код отправлен на адрес подписки. Он действует 10 минут.',
  getToken: 'Получить новый токен',
  earlierUntil: (end) => `Старый работает до ${end}`,
  earlierEnded: 'Старый больше не работает.',

  connections: 'Агенты',
  connectionsText:
    'Программы, которые вошли с токеном этой подписки. Прочитанное ими идёт в счёт её строк.',
  noConnections: 'Ни один агент не вошёл.',
  app: 'Программа',
  accessOf: 'Доступ получает',
  connectedOn: 'Подключена',
  lastUsedOn: 'Последнее обращение',
  state: 'Состояние',
  action: 'Действие',
  connectionStates: {
    live: 'подключена',
    waiting: 'ещё не подключена',
    idle: 'слишком долго не обращалась',
    revoked: 'отключена',
    replayed: 'отключена: её секрет использован дважды',
    disconnected: 'отключилась сама',
    displaced: 'отключена: слишком много подключений',
    replaced: 'закончилась вместе с токеном',
    expired: 'закончилась вместе с подпиской',
    cancelled: 'закончилась вместе с подпиской',
  },
  notYet: 'ещё нет',
  never: 'не было',
  thisComputer: 'программа на вашем компьютере',
  end: 'Отключить',
  endOf: (app) => `Отключить: ${app}`,

  webhooks: 'Вебхуки',
  webhooksText: 'Адреса, на которые приходит подписанное сообщение, когда что-то происходит.',
  noWebhooks: 'Вебхуков нет.',
  url: 'Адрес (https)',
  events: 'События',
  eventTypes: {
    'dataset.version': 'новая версия набора',
    'quota.80': 'использовано 80 % строк',
    'quota.used': 'использованы все строки',
    'subscription.ending': 'подписка скоро закончится',
  },
  webhookStates: { active: 'действует', ended: 'закончен: получатель ответил 410' },
  watchList: 'Список наблюдения',
  add: 'Добавить',
  remove: 'Удалить',
  test: 'Отправить пробное',
  tested: 'Пробное сообщение доставлено.',
  newSecret: 'Новый секрет',
  secretShown: 'Это секрет. Скопируйте его сейчас: он показан один раз.',
  deliveries: 'Сообщения',
  deliveriesText: (url) => `За последние 30 дней, на ${url}.`,
  noDeliveries: 'Сообщений нет.',
  deliveryStates: { waiting: 'ждёт', sent: 'доставлено', failed: 'не доставлено' },
  at: 'Время',
  attempts: 'Попыток',
  result: 'Последний ответ',
  resend: 'Отправить снова',
  earlier: 'Более ранние',
  watchLists: 'Списки наблюдения',
  watchListsText:
    'Значения столбца. Вебхук, который называет список, получает новую версию, только когда в ' +
    'списке что-то изменилось.',
  noWatchLists: 'Списков нет.',
  name: 'Имя',
  values: 'Значения, по одному в строке',
  count: 'Значений',
}

const words: Readonly<Record<Language, AccountWords>> = { en: english, ru: russian }

/** The texts of the account page in a language. */
export function accountWords(language: Language): AccountWords {
  return words[language]
}

/** What became of an order, or when it will take effect. */
export function orderStateText(
  { language, words: { day } }: Pick<PageContext, 'language' | 'words'>,
  { state, takesEffectAt: on }: Pick<Order, 'state' | 'takesEffectAt'>,
): string {
  const say = accountWords(language)
  return on === null ? say.orderStates[state] : say.takesEffect(day(isoTime(on)))
}
