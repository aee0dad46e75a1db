import type { Language } from '../config.js'
import { dateWriter } from '../wording.js'

const english = {
  signIn: 'Sign in',
  signOut: 'Sign out',
  everywhere: 'Sign out everywhere',
  everywhereText: 'Ends your sessions in all browsers, this one too.',
  signedInAs: (email: string) => `You are signed in as ${email}.`,
  lead:
    'Give the e-mail address of your subscription. If you type the code that arrives there, this ' +
    'browser is signed in, and no token is needed here.',
  ownerTitle: "Owner's page",
  ownerLead: 'Give your e-mail address, and type the code that arrives there.',
  emailHint: 'The code is sent here.',
  noLetter: 'If none arrives, the address may have a typing mistake.',
  again: 'Ask for another code',
  ended: 'Your session has ended. Sign in again.',
  closed: 'Signing in is not possible on this site: it needs mail, and an https address.',
  noSubscription: 'This address has no live subscription.',
  chooseText: 'Which subscription pays for what you read here?',
  choose: 'Use it',
  pays: 'It pays for what you read here.',
  paidBy: (id: string) => `Rows count toward your subscription ${id}.`,
  subscription: (id: string) => `Subscription ${id}`,
  chosen: (id: string, plans: string, end: string) => `${id}: ${plans}, until ${end}`,
  date: dateWriter('en-GB'),
}

export type SignInWords = typeof english

const russian: SignInWords = {
  signIn: 'Войти',
  signOut: 'Выйти',
  everywhere: 'Выйти везде',
  everywhereText: 'Завершит ваши сеансы во всех браузерах, и в этом тоже.',
  signedInAs: (email) => `Вы вошли как ${email}.`,
  lead:
    'Укажите адрес электронной почты вашей подписки. Введите код, который туда придёт, и вы ' +
    'войдёте в этом браузере: токен здесь не понадобится.',
  ownerTitle: 'Страница владельца',
  ownerLead: 'Укажите адрес электронной почты и введите код, который туда придёт.',
  emailHint: 'Сюда придёт код.',
  noLetter: 'Если письма нет, проверьте, нет ли в адресе опечатки.',
  again: 'Запросить новый код',
  ended: 'Сеанс завершён. Войдите снова.',
  closed: 'На этом сайте войти нельзя: для входа нужны почта и адрес https.',
  noSubscription: 'У этого адреса нет действующей подписки.',
  chooseText: 'Какая подписка оплачивает то, что вы здесь читаете?',
  choose: 'Выбрать',
  pays: 'Она оплачивает то, что вы здесь читаете.',
  paidBy: (id) => `Строки засчитываются в вашу подписку ${id}.`,
  subscription: (id) => `Подписка ${id}`,
  chosen: (id, plans, end) => `${id}: ${plans}, до ${end}`,
  date: dateWriter('ru-RU'),
}

const words: Readonly<Record<Language, SignInWords>> = { en: english, ru: russian }

/** The texts about people who sign in. */
export function signInWords(language: Language): SignInWords {
  return words[language]
}
