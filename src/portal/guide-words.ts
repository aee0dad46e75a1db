import type { Language } from '../config.js'

/** A title, and the text before each example. */
export type GuideSection = readonly [title: string, ...texts: string[]]

interface GuideWords {
  readonly title: string
  readonly lead: string
  /** Said where the examples have the demo token. */
  readonly demo: string
  readonly curl: GuideSection
  readonly python: GuideSection
  readonly agent: GuideSection
  readonly spreadsheet: GuideSection
  readonly errors: GuideSection
}

const words: Readonly<Record<Language, GuideWords>> = {
  en: {
    title: 'How to use it',
    lead: 'The same rows in a terminal, a program, an AI agent and a spreadsheet, ready to paste.',
    demo:
      'The examples have the public demo token, which reads a small subset of the rows. Put your ' +
      'own token in its place to read the rows of your plan.',
    curl: [
      'Terminal: curl',
      'The address is the question: dataset, filters, columns. The answer is JSON.',
    ],
    python: ['Python: pandas', 'All rows that the filters match, with the types of the columns.'],
    agent: [
      'AI agent: MCP',
      'Put this into the configuration of an MCP client. Ask it which datasets there are.',
    ],
    spreadsheet: [
      'Spreadsheet: Excel',
      'This saves the rows as an XLSX file.',
      'For a table that can be refreshed, paste this into a blank query of Power Query, in its ' +
        'Advanced Editor. If you are asked for credentials, choose Anonymous.',
    ],
    errors: [
      'When an answer is an error',
      'Its “detail” says what to correct. After 429 and 503, wait as many seconds as the header ' +
        'Retry-After says; after row_quota_exceeded, the rows of this month are used.',
    ],
  },
  ru: {
    title: 'Как пользоваться',
    lead: 'Одни и те же строки в терминале, программе, ИИ-агенте и таблице: скопируйте и вставьте.',
    demo:
      'В примерах открытый демонстрационный токен: он читает небольшую часть строк. Поставьте ' +
      'вместо него свой, чтобы читать строки своего тарифа.',
    curl: ['Терминал: curl', 'Адрес — это запрос: набор, фильтры, столбцы. Ответ приходит в JSON.'],
    python: ['Python: pandas', 'Все строки, которые подходят под фильтры, с типами столбцов.'],
    agent: [
      'ИИ-агент: MCP',
      'Добавьте это в настройки клиента MCP и спросите его, какие есть наборы данных.',
    ],
    spreadsheet: [
      'Электронная таблица: Excel',
      'Эта команда сохраняет строки в файл XLSX.',
      'Чтобы таблица обновлялась, вставьте это в пустой запрос Power Query, в расширенный ' +
        'редактор. На вопрос об учётных данных выберите «Анонимный».',
    ],
    errors: [
      'Если ответ — ошибка',
      'В поле detail написано, что исправить. После 429 и 503 подождите столько секунд, сколько ' +
        'в заголовке Retry-After; row_quota_exceeded — строки этого месяца израсходованы.',
    ],
  },
}

/** The texts of the guide in a language. */
export function guideWordsOf(language: Language): GuideWords {
  return words[language]
}
