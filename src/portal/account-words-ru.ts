import { dateWriter, numberWriter, pluralChooser } from '../wording.js'
import { dayWriter } from './writers.js'
import type { AccountWords } from './account-words-en.js'

const date = dateWriter('ru')
const number = numberWriter('ru')
const plural = pluralChooser('ru')
const monthForms = { one: 'месяц', few: 'месяца', many: 'месяцев', other: 'месяца' }

/** The texts of the account page in Russian. */
export const russianAccountWords: AccountWords = {
  moment: (text) => date(Date.parse(text)),
  date: dayWriter('ru'),

  subscriptionOrders: 'Продление, тарифы, заказы',
  writeTo: 'Чтобы продлить или изменить подписку, напишите на',
  renew: 'Продлить',
  renewText:
    'Новые месяцы начнутся, когда закончится оплаченное время. Год стоит как десять месяцев.',
  renewFree: (months) => `Бесплатные тарифы продлеваются на ${months}.`,
  renewEffect: (end) => `Тогда подписка закончится ${end}.`,
  change: 'Сменить тарифы',
  changeText:
    'Более дорогой тариф стоит месячную разницу за каждый оставшийся месяц, начатый тоже; за год ' +
    'считаются десять. Если осталось меньше месяца, он стоит месяц всех тарифов за вычетом ' +
    'неиспользованного, и подписка закончится через месяц после подтверждения. Более дешёвый ' +
    'тариф вступает в силу в конце оплаченного срока. Строки этого месяца остаются посчитанными.',
  changeEffect: (end) => `Срок прежний, ${end}.`,
  changeMoves: (end) =>
    `Подписка закончится через месяц после подтверждения: если оно сегодня, ${end}.`,
  changeLater: (plans) => `С её окончания: ${plans}.`,
  changePlan: (title, plan) => `${title}: ${plan}`,
  removed: 'исключён',
  asNow: (plan) => `${plan}, как сейчас`,
  asScheduled: (plan, later) => `${plan} до конца оплаченного срока, затем ${later}`,
  notAdded: 'не добавлять',
  planChoice: (plan, price, rows) => `${plan}: ${price}, строк в месяц: ${rows}`,
  aMonth: (price) => `${price} в месяц`,
  time: 'Срок',
  months: (count) => `${number(count)} ${plural(count, monthForms)}`,
  showPrice: 'Показать цену',
  price: 'Цена',
  order: 'Заказать с оплатой',
  orderFree: 'Заказать',
  terms: 'Оформляя заказ, вы принимаете',
  termsLink: 'условия',
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
  payUntil: 'Оплатить до',
  plans: 'Тарифы',
  howToPay: 'Как оплатить',
  receipt: 'Квитанция',
  papers: { invoice: 'Счёт', receipt: 'Квитанция' },
  receiptOf: (order) => `Квитанция ${order}`,
  orderNumber: (order) => `Заказ ${order}`,
  print: 'Напечатать',
  back: 'Назад',

  reissue: 'Новый токен',
  reissueText:
    'Если токен мог стать известен другим, замените его новым. Код придёт на адрес подписки; ' +
    'агентам, которые вошли со старым токеном, нужно будет войти снова.',
  sendCode: 'Прислать код',
  newCode: 'Прислать другой код',
  codeSent: 'Код отправлен на адрес подписки. Он действует 10 минут.',
  code: 'Код из 8 цифр',
  endEarlier: 'Старый токен перестанет работать сразу',
  getToken: 'Получить новый токен',
  tokenShown:
    'Это ваш новый токен. Скопируйте его сейчас: он показан один раз. Он также отправлен письмом.',
  earlierUntil: (end) => `Старый работает до ${end}.`,
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
  connectionEnded: (app) => `Подключение закончено: ${app}.`,

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
  deleted: (name) => `Удалено: ${name}.`,
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
  resent: (n) => `Сообщение ${n} отправляется снова.`,
  earlier: 'Более ранние',
  watchLists: 'Списки наблюдения',
  watchListsText:
    'Значения столбца. Вебхук, который называет список, получает новую версию, только когда в ' +
    'списке что-то изменилось.',
  noWatchLists: 'Списков нет.',
  name: 'Имя',
  column: 'Столбец',
  values: 'Значения, по одному в строке',
  count: 'Значений',
  stored: (name) => `Сохранён: ${name}.`,
}
