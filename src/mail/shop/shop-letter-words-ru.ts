import { dateWriter, numberWriter, pluralChooser } from '../../wording.js'
import type { RedirectTarget } from '../../control/connections/redirect-target.js'
import type { LetterOrder, ShopLetterWords, ShopTopic } from './shop-content.js'

const number = numberWriter('ru')
const date = dateWriter('ru')
const plural = pluralChooser('ru')
const monthForms = { one: 'месяц', few: 'месяца', other: 'месяцев' }

/** The shop's letters in Russian. */
export const russianShopWords: ShopLetterWords = {
  subject,
  opening,
  item: ({ title, dataset, plan }) => `${title} (${dataset}), тариф ${plan}`,
  terms: ({ months, amountRub, payUntil }) => [
    ...(months === null ? [] : [`Срок: ${number(months)} ${plural(months, monthForms)}`]),
    `Сумма: ${number(amountRub)} ₽`,
    `Оплатить до ${date(payUntil)}`,
  ],
  codeUse:
    'Введите его на странице, которая его запросила, в течение 10 минут. Никому его не сообщайте.',
  codeUnknown: 'Если вы не запрашивали код, ничего не делайте: без него ничего не произойдёт.',
  asked: ({ app, target }) => {
    const name = app === '' ? 'не указал имени' : `называет себя «${app}», имя не проверено`
    return `Агент ${name}. Доступ по этому коду получит ${receiverText(target)}.`
  },
  askedUnknown:
    'Если вы не начинали подключение сами, не обращайте внимания на это письмо: без кода ничего ' +
    'не произойдёт. Не называйте код никому, кто его спросит.',
  howToConfirm: 'Когда заказ оплачен, подтвердите его:',
  automatic: 'Это письмо отправлено автоматически.',
}

function subject(topic: ShopTopic): string {
  switch (topic.kind) {
    case 'code':
    case 'connect-code':
      return `Ваш код для ${topic.site}`
    case 'order-received':
      return `Ваш заказ ${topic.order.orderId}: как оплатить`
    case 'order-declined':
      return `Ваш заказ ${topic.order.orderId} отклонён`
    case 'new-order':
      return `Новый заказ ${topic.order.orderId}: ${number(topic.order.amountRub)} ₽`
  }
}

function opening(topic: ShopTopic): string {
  switch (topic.kind) {
    case 'code':
      return topic.purpose === 'order'
        ? `Ваш код, чтобы заказать доступ на ${topic.site}:`
        : `Ваш код, чтобы получить новый токен на ${topic.site}:`
    case 'connect-code':
      return `Ваш код, чтобы подключить агента на ${topic.site}:`
    case 'order-received':
      return `Спасибо. Ваш заказ ${topic.order.orderId} ждёт оплаты:`
    case 'order-declined':
      return `Ваш заказ ${topic.order.orderId} отклонён. Не оплачивайте его. В нём было:`
    case 'new-order':
      return `${topic.email} заказывает ${whatOf(topic.order)}:`
  }
}

function receiverText(target: RedirectTarget): string {
  switch (target.kind) {
    case 'site':
      return target.host
    case 'computer':
      return 'приложение на компьютере, где вы открыли страницу'
    case 'app':
      return `приложение, которое открывает ссылки ${target.scheme}:// там, где вы открыли страницу`
  }
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
