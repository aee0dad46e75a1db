import type { Language } from '../config.js'

const english = {
  title: 'How to use it',
  text:
    'The same rows from a terminal, a program, an AI agent and a spreadsheet. Every example works as ' +
    'it is.',
  demo:
    'The examples have the public demo token, which reads a small subset of the rows. With a token of ' +
    'your own in its place they read all rows of your plan.',
  curl: {
    title: 'Terminal: curl',
    text: 'The address is the question: dataset, filters, columns. The answer is JSON.',
  },
  python: {
    title: 'Python: pandas',
    text: 'All rows that the filters match, with the types of the columns.',
  },
  agent: {
    title: 'AI agent: MCP',
    text:
      'Put this into the configuration of Claude Code, Cursor or another MCP client. Then ask it ' +
      'which datasets there are.',
  },
  spreadsheet: {
    title: 'Spreadsheet: Excel',
    text: 'This saves the rows as an XLSX file.',
    query:
      'A table that can be refreshed: in Excel choose Data, Get Data, Launch Power Query Editor, New ' +
      'Source, Blank Query, Advanced Editor, and paste this. Asked for credentials, choose Anonymous.',
  },
  errors: {
    title: 'When an answer is an error',
    text:
      'Its body says in “detail” what to correct. After 429 and 503, wait as many seconds as the ' +
      'header Retry-After says, unless the error is row_quota_exceeded: the rows of the month are used.',
  },
}

type GuideWords = typeof english

const russian: GuideWords = {
  title: 'Как пользоваться',
  text:
    'Одни и те же строки из терминала, программы, ИИ-агента и электронной таблицы. Каждый пример ' +
    'работает как есть.',
  demo:
    'В примерах стоит открытый демонстрационный токен: он читает небольшую часть строк. Поставьте ' +
    'вместо него свой, и примеры прочтут все строки вашего тарифа.',
  curl: {
    title: 'Терминал: curl',
    text: 'Адрес — это запрос: набор, фильтры, столбцы. Ответ приходит в JSON.',
  },
  python: {
    title: 'Python: pandas',
    text: 'Все строки, которые подходят под фильтры, с типами столбцов.',
  },
  agent: {
    title: 'ИИ-агент: MCP',
    text:
      'Добавьте это в настройки Claude Code, Cursor или другого клиента MCP и спросите его, какие ' +
      'есть наборы данных.',
  },
  spreadsheet: {
    title: 'Электронная таблица: Excel',
    text: 'Эта команда сохраняет строки в файл XLSX.',
    query:
      'Таблица, которую можно обновлять: в Excel выберите «Данные», «Получить данные», «Запустить ' +
      'редактор Power Query», «Создать источник», «Пустой запрос», «Расширенный редактор» и вставьте ' +
      'этот текст. На вопрос об учётных данных выберите «Анонимный».',
  },
  errors: {
    title: 'Если ответ — ошибка',
    text:
      'В поле detail написано, что исправить. После 429 и 503 подождите столько секунд, сколько ' +
      'указано в заголовке Retry-After. Исключение — row_quota_exceeded: строки этого месяца ' +
      'израсходованы.',
  },
}

const words: Readonly<Record<Language, GuideWords>> = { en: english, ru: russian }

/** The texts of the guide in a language. */
export function guideWordsOf(language: Language): GuideWords {
  return words[language]
}
