import type { Language } from '../../../config.js'

const english = {
  title: 'Connect an agent',
  asks: (name: string) => `“${name}” asks to read the datasets of your subscription.`,
  asksUnnamed: 'An agent without a name asks to read the datasets of your subscription.',
  unverified: 'The agent chose this name itself; it is not verified.',
  goesTo: 'Access goes to',
  computer: 'an app on this computer',
  app: (scheme: string) => `an app on this device that opens ${scheme}:// links`,
  onlyIfStarted: 'Go on only if you have just started this yourself.',
  describedBy: (host: string) => `The agent is described by a document of ${host}.`,
  costs: 'What it reads counts toward your monthly rows. You can end the connection at any time.',
  token: 'Subscription token',
  whereToken: 'It is in our letter and begins with das_live_. The agent does not get to see it.',
  tryDemo: 'To try it without a subscription, enter the public demo token:',
  noToken: 'No token at hand?',
  byMail:
    'Give the e-mail address of your subscription. If you type the code that arrives there, the ' +
    'agent is connected.',
  emailHint: 'The code is sent here.',
  noLetter: 'If none arrives, the address may have a typing mistake.',
  choose: 'Choose the subscription that the agent reads with.',
  nothingFound:
    'This address has no live subscription with a live token, so there is nothing to connect.',
  connect: 'Connect',
  cancel: 'Cancel',
  wrongToken: 'This token is unknown or has ended. Copy it from the letter again.',
  tooMany: (seconds: number) => `Too many attempts. Wait ${seconds} s and try again.`,
  refused: 'This agent can’t be connected',
  refusedText: 'Its request has a mistake, so nothing was connected. Start again in the app.',
  later: 'Not possible right now',
  laterText: 'Nothing was connected. Try again in a minute.',
  foreign: 'Open this page from the app that you want to connect.',
  forDeveloper: 'For its developer:',
}

export type ConsentWords = typeof english

const russian: ConsentWords = {
  title: 'Подключение агента',
  asks: (name) => `«${name}» просит доступ к данным вашей подписки.`,
  asksUnnamed: 'Агент без имени просит доступ к данным вашей подписки.',
  unverified: 'Агент назвал себя сам, имя не проверено.',
  goesTo: 'Доступ получит',
  computer: 'приложение на этом компьютере',
  app: (scheme) => `приложение на этом устройстве, которое открывает ссылки ${scheme}://`,
  onlyIfStarted: 'Продолжайте, только если вы сами только что это начали.',
  describedBy: (host) => `Агента описывает документ сайта ${host}.`,
  costs:
    'Прочитанные строки входят в ваш месячный лимит. Подключение можно завершить в любой момент.',
  token: 'Токен подписки',
  whereToken: 'Он есть в нашем письме и начинается с das_live_. Сам агент его не увидит.',
  tryDemo: 'Чтобы попробовать без подписки, введите открытый демо-токен:',
  noToken: 'Токена нет под рукой?',
  byMail:
    'Укажите адрес электронной почты вашей подписки. Введите код, который туда придёт, и агент ' +
    'будет подключён.',
  emailHint: 'Сюда придёт код.',
  noLetter: 'Если письма нет, проверьте, нет ли в адресе опечатки.',
  choose: 'Выберите подписку, по которой агент будет читать данные.',
  nothingFound: 'У этого адреса нет действующей подписки с действующим токеном: подключать нечего.',
  connect: 'Подключить',
  cancel: 'Отмена',
  wrongToken: 'Такого токена нет, или он больше не действует. Скопируйте его из письма ещё раз.',
  tooMany: (seconds) => `Слишком много попыток. Подождите ${seconds} с и попробуйте снова.`,
  refused: 'Этого агента нельзя подключить',
  refusedText: 'В его запросе ошибка, поэтому ничего не подключено. Начните в приложении заново.',
  later: 'Сейчас это невозможно',
  laterText: 'Ничего не подключено. Попробуйте через минуту.',
  foreign: 'Откройте эту страницу из приложения, которое хотите подключить.',
  forDeveloper: 'Для разработчика:',
}

const words: Readonly<Record<Language, ConsentWords>> = { en: english, ru: russian }

/** The texts of the pages where agents sign in. */
export function consentWords(language: Language): ConsentWords {
  return words[language]
}
