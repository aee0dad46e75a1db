import { dateWriter, numberWriter, pluralChooser } from '../../wording.js'
import type { LetterWords } from './letter-words-en.js'

const number = numberWriter('ru')
const date = dateWriter('ru')
const plural = pluralChooser('ru')

const rowForms = { one: 'строка', few: 'строки', other: 'строк' }
const dayForms = { one: 'день', few: 'дня', other: 'дней' }
const yearForms = { one: 'год', few: 'года', other: 'лет' }
const monthForms = { one: 'месяц', few: 'месяца', other: 'месяцев' }
const datasetForms = { one: 'набору данных', other: 'наборам данных' }

const days = (count: number) => `${number(count)} ${plural(count, dayForms)}`
const months = (count: number) => `${number(count)} ${plural(count, monthForms)}`

/** The texts of letters in Russian. */
export const russianLetterWords: LetterWords = {
  automatic: 'Это письмо отправлено автоматически.',
  signature: (id) => `Подписка ${id}.`,
  oneDataset: (title) => `: ${title}`,
  datasets: (count) => ` к ${number(count)} ${plural(count, datasetForms)}`,
  plan: (title, dataset, plan) => `${title} (${dataset}), тариф ${plan}`,
  removed: (title, dataset) => `${title} (${dataset}): больше не входит`,
  rowsAMonth: (count) => `${number(count)} ${plural(count, rowForms)} в месяц`,
  overAll: (rows) => `По всем наборам вместе: ${rows}`,
  history: (years) => {
    if (years === 'all') return 'вся история'
    if (years === 1) return 'последний год'
    const last = plural(years, { one: 'последний', other: 'последние' })
    return `${last} ${number(years)} ${plural(years, yearForms)}`
  },
  access: (until) => `До ${date(until)} вам открыт доступ:`,
  receipt: (id, time, rub) =>
    `Заказ ${id}${time === null ? '' : ` на ${months(time)}`}: ` +
    `${rub === 0 ? 'бесплатно' : `${number(rub)} ₽, оплачен`}.`,
  newToken: { subject: (name) => `Ваш доступ${name}`, opening: 'Спасибо за заказ.' },
  reissuedToken: {
    subject: (name) => `Новый токен для доступа${name}`,
    opening: (earlierUntil) =>
      'Высылаем новый токен. ' +
      (earlierUntil === null
        ? 'Прежние токены больше не действуют.'
        : `Прежние токены действуют до ${date(earlierUntil)}.`),
  },
  token: {
    yours: 'Ваш токен:',
    use: 'Программы передают его с каждым запросом в заголовке Authorization. Проверить можно так:',
    mcp: 'ИИ-ассистенты с поддержкой MCP подключаются с тем же заголовком; адрес сервера:',
    signIn:
      'Ассистенту, который спрашивает только адрес, укажите этот же: откроется страница, ' +
      'куда нужно вставить токен.',
    keep:
      'Храните токен в секрете: любой, у кого он есть, сможет читать данные от вашего ' +
      'имени. Если он потерян или его мог увидеть кто-то другой, ' +
      'ответьте на это письмо и попросите новый.',
  },
  portal: 'Чтобы смотреть данные в браузере, войдите с этим адресом почты; токен не нужен:',
  reminder: {
    subject: (name, left) => `Через ${days(left)} закончится доступ${name}`,
    opening: (end, left) =>
      `Ваша подписка закончится ${date(end)}, через ${days(left)}. В подписку входит:`,
    advice:
      'Чтобы продлить подписку, ответьте на это письмо. После этой даты токены подписки не ' +
      'будут приниматься; после продления они заработают снова.',
  },
  orderConfirmed: {
    subject: (name) => `Заказ выполнен, открыт доступ${name}`,
    opening: 'Спасибо. Токен остался прежним.',
    laterSubject: (name) => `Заказ вступит в силу позже, доступ${name}`,
    laterOpening: 'Спасибо. Токен прежний, и пока ничего не меняется.',
    from: (at) => `Если подписка будет продлена, с ${date(at)}:`,
  },
  connectionMade: {
    subject: (name) => `Агент получил доступ${name}`,
    opening: (means, at) => {
      const texts = {
        token: 'с токеном вашей подписки',
        mail: 'по коду, присланному на этот адрес,',
      }
      return `${date(at)} ${texts[means]} был подключён агент. В подписку входит:`
    },
    unnamed: 'Имени он не указал.',
    named: (app) => `Он называет себя «${app}»; это имя никто не проверял.`,
    receiver: (receiver) => `Доступ получил: ${receiver}.`,
    place: { computer: 'на компьютере того, кто его подключил', device: '' },
    ended: 'С тех пор подключение завершено.',
    advice: (means) => {
      const texts = {
        token:
          'ваш токен есть у кого-то ещё. Завершите там подключение, получите новый токен и ' +
          'отметьте, чтобы прежний сразу перестал действовать:',
        mail:
          'вашу почту читает кто-то ещё. Смените пароль почтового ящика и завершите там ' +
          'подключение:',
      }
      return (
        'Если его подключили вы, ничего делать не нужно: завершить подключение можно в любой ' +
        `момент на странице подписки. Если не вы, ${texts[means]}`
      )
    },
  },
  code: {
    subject: (site) => `Ваш код для ${site}`,
    opening: (purpose, site) => {
      const texts = { order: 'заказать доступ', 'sign-in': 'войти', token: 'получить новый токен' }
      return `Ваш код, чтобы ${texts[purpose]} на ${site}:`
    },
    use:
      'Введите его на странице, которая его запросила, в течение 10 минут. ' +
      'Никому его не сообщайте.',
    ignore: 'Если вы не запрашивали код, ничего не делайте: без него ничего не произойдёт.',
  },
  connectCode: {
    opening: (site) => `Ваш код, чтобы подключить агента на ${site}:`,
    agent: (app, receiver) => {
      const name = app === '' ? 'не указал имени' : `называет себя «${app}», имя не проверено`
      return `Агент ${name}. Доступ по этому коду получит ${receiver}.`
    },
    place: {
      computer: 'на компьютере, где вы открыли страницу',
      device: ' там, где вы открыли страницу',
    },
    ignore:
      'Если вы не начинали подключение сами, не обращайте внимания на это письмо: без кода ' +
      'ничего не произойдёт. Не называйте код никому, кто его спросит.',
  },
  appOn: (computer) => `приложение ${computer}`,
  appOf: (scheme, device) => `приложение, которое открывает ссылки ${scheme}://${device}`,
  orderReceived: {
    subject: (id) => `Ваш заказ ${id}: как оплатить`,
    opening: (id) => `Спасибо. Ваш заказ ${id} ждёт оплаты:`,
  },
  orderDeclined: {
    subject: (id) => `Ваш заказ ${id} отклонён`,
    opening: (id) => `Ваш заказ ${id} отклонён. Не оплачивайте его. В нём было:`,
  },
  newOrder: {
    subject: (id, rub) => `Новый заказ ${id}: ${number(rub)} ₽`,
    opening: (email, kind, subscriptionId) => {
      const texts = {
        new: 'новую подписку',
        renew: `продление ${subscriptionId}`,
        change: `другие тарифы в ${subscriptionId}`,
      }
      return `${email} заказывает ${texts[kind]}:`
    },
    open:
      'Когда заказ оплачен, подтвердите его на этой странице или отклоните. Ссылка действует ' +
      'один раз, 14 дней; никому её не передавайте:',
    confirm: (isMore) =>
      isMore ? 'Или в командной строке:' : 'Когда заказ оплачен, подтвердите его:',
  },
  orderDone: {
    subject: (id, isDeclined) => `Заказ ${id} ${isDeclined ? 'отклонён' : 'подтверждён'}`,
    opening: (id, email, rub, isDeclined) =>
      `Заказ ${id} от ${email} на ${number(rub)} ₽ ${isDeclined ? 'отклонён' : 'подтверждён'}.`,
    whoDid: 'Кто это сделал, видно в журнале:',
  },
  terms: {
    company: (name, inn) => `Для организации: ${name}, ИНН ${inn}`,
    time: (count) => `Срок: ${months(count)}`,
    change: (movesTerm) =>
      movesTerm
        ? 'Срок: подписка закончится через месяц после подтверждения; цена: месяц всех её ' +
          'тарифов за вычетом неиспользованного'
        : 'Срок: окончание подписки прежнее',
    amount: (rub) => `Сумма: ${number(rub)} ₽`,
    payBy: (end) => `Оплатить до ${date(end)}`,
  },
}
