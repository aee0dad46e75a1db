import { takesSignIn } from '../../config.js'
import type { RedirectTarget } from '../../control/connections/redirect-target.js'
import { dateWriter, numberWriter, pluralChooser, shortTitle } from '../../wording.js'
import { code, list, text, tryToken } from './blocks.js'
import type {
  Block,
  LetterFacts,
  LetterGrant,
  LetterOrder,
  LetterSubscription,
  LetterText,
  Letters,
  Receipt,
} from './letter.js'

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
const monthsText = (count: number) => `${number(count)} ${plural(count, monthForms)}`

/** Letters in Russian. */
export const russianLetters: Letters = {
  'new-token': ({ subscription, receipt, ...access }) =>
    toSubscriber(
      subscription,
      `Ваш доступ${nameOf(subscription)}`,
      `Спасибо за заказ. ${accessUntil(subscription)}`,
      [...(receipt === null ? [] : [text(receiptText(receipt))]), ...tokenBlocks(access)],
    ),
  'reissued-token': ({ subscription, previousValidUntil, ...access }) =>
    toSubscriber(
      subscription,
      `Новый токен для доступа${nameOf(subscription)}`,
      `Высылаем новый токен. ${previousText(previousValidUntil)} ${accessUntil(subscription)}`,
      tokenBlocks(access),
    ),
  reminder: ({ subscription, daysLeft }) =>
    toSubscriber(
      subscription,
      `Через ${days(daysLeft)} закончится доступ${nameOf(subscription)}`,
      `Ваша подписка закончится ${date(subscription.expiresAt)}, через ${days(daysLeft)}. ` +
        'В подписку входит:',
      [
        text(
          'Чтобы продлить подписку, ответьте на это письмо. После этой даты токены подписки не ' +
            'будут приниматься; после продления они заработают снова.',
        ),
      ],
    ),
  'order-confirmed': ({ subscription, receipt }) =>
    toSubscriber(
      subscription,
      `Заказ выполнен, открыт доступ${nameOf(subscription)}`,
      `Спасибо. Токен остался прежним. ${accessUntil(subscription)}`,
      [text(receiptText(receipt))],
    ),
  'connection-made': ({ subscription, ...made }) =>
    toSubscriber(
      subscription,
      `Агент получил доступ${nameOf(subscription)}`,
      `${date(made.connectedAt)} ${meansText[made.madeBy]} был подключён агент. ` +
        'В подписку входит:',
      [
        text(
          `${
            made.app === ''
              ? 'Имени он не указал.'
              : `Он называет себя «${made.app}»; это имя никто не проверял.`
          } Доступ получил: ${receiverText(made.target, 'на компьютере того, кто его подключил')}.`,
        ),
        ...(made.isOver ? [text('С тех пор подключение завершено.')] : []),
        text(
          'Если его подключили вы, ничего делать не нужно: завершить подключение можно в любой ' +
            `момент на странице подписки. Если не вы, ${endText[made.madeBy]}`,
        ),
        code(made.accountUrl),
      ],
    ),
  code: ({ purpose, site, ...typed }) => {
    const use = purpose === 'order' ? 'заказать доступ' : 'получить новый токен'
    return {
      subject: `Ваш код для ${site}`,
      blocks: [
        text(`Ваш код, чтобы ${use} на ${site}:`),
        code(typed.code),
        text(codeUse),
        text('Если вы не запрашивали код, ничего не делайте: без него ничего не произойдёт.'),
        text(automatic),
      ],
    }
  },
  'connect-code': ({ site, app, target, ...typed }) => {
    const name = app === '' ? 'не указал имени' : `называет себя «${app}», имя не проверено`
    const place = 'где вы открыли страницу'
    const receiver = receiverText(target, `на компьютере, ${place}`, ` там, ${place}`)
    return {
      subject: `Ваш код для ${site}`,
      blocks: [
        text(`Ваш код, чтобы подключить агента на ${site}:`),
        code(typed.code),
        text(codeUse),
        text(`Агент ${name}. Доступ по этому коду получит ${receiver}.`),
        text(
          'Если вы не начинали подключение сами, не обращайте внимания на это письмо: без кода ' +
            'ничего не произойдёт. Не называйте код никому, кто его спросит.',
        ),
        text(automatic),
      ],
    }
  },
  'order-received': ({ order, payment }) =>
    aboutOrder(
      order,
      `Ваш заказ ${order.orderId}: как оплатить`,
      `Спасибо. Ваш заказ ${order.orderId} ждёт оплаты:`,
      [text(payment)],
    ),
  'order-declined': ({ order }) =>
    aboutOrder(
      order,
      `Ваш заказ ${order.orderId} отклонён`,
      `Ваш заказ ${order.orderId} отклонён. Не оплачивайте его. В нём было:`,
    ),
  'new-order': ({ order, email }) =>
    aboutOrder(
      order,
      `Новый заказ ${order.orderId}: ${number(order.amountRub)} ₽`,
      `${email} заказывает ${whatOf(order)}:`,
      [text('Когда заказ оплачен, подтвердите его:'), code(`das order confirm ${order.orderId}`)],
    ),
}

const automatic = 'Это письмо отправлено автоматически.'
const codeUse =
  'Введите его на странице, которая его запросила, в течение 10 минут. Никому его не сообщайте.'

const meansText = {
  token: 'с токеном вашей подписки',
  mail: 'по коду, присланному на этот адрес,',
} as const

const endText = {
  token:
    'ваш токен есть у кого-то ещё. Завершите там подключение, получите новый токен и отметьте, ' +
    'чтобы прежний сразу перестал действовать:',
  mail: 'вашу почту читает кто-то ещё. Смените пароль почтового ящика и завершите там подключение:',
} as const

function toSubscriber(
  { subscriptionId, grants, globalRows }: LetterSubscription,
  subject: string,
  opening: string,
  blocks: readonly Block[],
): LetterText {
  const cap = globalRows === null ? [] : [`По всем наборам вместе: ${rows(globalRows)} в месяц`]
  const items = list([...grants.map(grantText), ...cap])
  const signature = text(`Подписка ${subscriptionId}. ${automatic}`)
  return { subject, blocks: [text(opening), items, ...blocks, signature] }
}

function aboutOrder(
  { items, months, amountRub, payUntil }: LetterOrder,
  subject: string,
  opening: string,
  blocks: readonly Block[] = [],
): LetterText {
  const terms = [
    ...items.map(planText),
    ...(months === null ? [] : [`Срок: ${monthsText(months)}`]),
    `Сумма: ${number(amountRub)} ₽`,
    `Оплатить до ${date(payUntil)}`,
  ]
  return { subject, blocks: [text(opening), list(terms), ...blocks, text(automatic)] }
}

function tokenBlocks({ token, base }: Pick<LetterFacts['new-token'], 'token' | 'base'>) {
  return [
    text('Ваш токен:'),
    code(token),
    text('Передавайте его с каждым запросом в заголовке Authorization. Проверить можно так:'),
    tryToken(token, base),
    text('ИИ-ассистенты с поддержкой MCP подключаются с тем же заголовком; адрес сервера:'),
    code(`${base}/mcp/`),
    ...(takesSignIn(base)
      ? [
          text(
            'Ассистенту, который спрашивает только адрес, укажите этот же: откроется страница, ' +
              'куда нужно вставить токен.',
          ),
        ]
      : []),
    text(
      'Храните токен в секрете: любой, у кого он есть, сможет читать данные от вашего ' +
        'имени. Если он потерян или его мог увидеть кто-то другой, ' +
        'ответьте на это письмо и попросите новый.',
    ),
  ]
}

function nameOf({ grants }: LetterSubscription): string {
  const [first] = grants
  if (grants.length === 1 && first) return `: ${shortTitle(first.title)}`
  return ` к ${number(grants.length)} ${plural(grants.length, datasetForms)}`
}

function accessUntil({ expiresAt }: LetterSubscription): string {
  return `До ${date(expiresAt)} вам открыт доступ:`
}

function planText({ title, dataset, plan }: LetterGrant): string {
  return `${title} (${dataset}), тариф ${plan}`
}

function grantText(grant: LetterGrant): string {
  const { offer } = grant
  if (offer === null) return planText(grant)
  return `${planText(grant)}: ${rows(offer.rowsPerMonth)} в месяц, ${historyText(offer.history)}`
}

function receiptText({ orderId, months, amountRub }: Receipt): string {
  const time = months === null ? '' : ` на ${monthsText(months)}`
  const price = amountRub === 0 ? 'бесплатно' : `${number(amountRub)} ₽, оплачен`
  return `Заказ ${orderId}${time}: ${price}.`
}

function receiverText(target: RedirectTarget, computer: string, device = ''): string {
  switch (target.kind) {
    case 'site':
      return target.host
    case 'computer':
      return `приложение ${computer}`
    case 'app':
      return `приложение, которое открывает ссылки ${target.scheme}://${device}`
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

function whatOf({ kind, subscriptionId }: LetterOrder): string {
  switch (kind) {
    case 'new':
      return 'новую подписку'
    case 'renew':
      return `продление ${subscriptionId}`
    case 'change':
      return `другие тарифы в ${subscriptionId}`
  }
}
