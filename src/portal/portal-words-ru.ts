import { numberWriter, pluralChooser } from '../wording.js'
import type { PortalWords } from './portal-words-en.js'
import { dayWriter, digitWriter, monthWriter, roubleWriter } from './writers.js'

const number = numberWriter('ru')
const plural = pluralChooser('ru')

const rowForms = { one: 'строка', few: 'строки', other: 'строк' }
const yearForms = { one: 'год', few: 'года', other: 'лет' }
const rowsLeftForms = { one: 'Осталась', other: 'Осталось' }

/** Портал по-русски. */
export const russianWords: PortalWords = {
  number,
  roubles: roubleWriter('ru'),
  day: dayWriter('ru'),
  monthName: monthWriter('ru'),
  digits: digitWriter('ru'),
  operators: {
    eq: 'равно',
    ne: 'не равно (без пустых)',
    gt: 'больше',
    gte: 'не меньше',
    lt: 'меньше',
    lte: 'не больше',
    like: 'начинается с',
    contains: 'содержит слова',
    in: 'одно из',
    not_in: 'ни одно из',
    isdistinct: 'не равно (с пустыми)',
    is_null: 'пусто',
    not_null: 'не пусто',
  },

  service: 'Dataset Access Service',
  skip: 'К содержанию',
  languages: 'Язык',
  menu: 'Главное меню',
  navigation: { datasets: 'Наборы данных', reference: 'Справочник API', usage: 'Мой расход' },
  footer: 'Без cookie и слежки. Ваш токен остаётся в этой вкладке.',

  headline: 'Таблицы с данными — одним запросом',
  lead:
    'Каждый набор данных здесь — таблица, доступная через интернет: выберите фильтры и ' +
    'столбцы и получите точные строки в JSON, CSV или Parquet. Попробуйте сразу с открытым ' +
    'демо-токеном; подписка открывает остальное.',
  tryLine: 'Вставьте это в терминал. Работает сразу, без регистрации:',
  copy: 'Копировать',
  copied: 'Скопировано',
  selected: 'Выделено: нажмите Ctrl+C',
  nothingListed: 'Здесь пока нет открытых наборов данных',
  nothingListedMore:
    'Загляните позже или запросите GET /v1/ со своим токеном: он покажет, что доступно.',
  datasets: 'Наборы данных',
  open: 'Открыть и попробовать',
  rows: 'Строк',
  columns: 'Столбцы',
  asOf: 'Данные на',
  updatedAt: 'Обновлено',
  source: 'Источник',
  fromPrice: (roubles) => `от ${roubles} в месяц`,
  free: 'Бесплатно',
  freePlan: (rows) => `бесплатно до ${rows} строк в месяц`,

  plans: 'Тарифы и цены',
  noPlans: 'Сейчас тарифов в продаже нет.',
  plan: 'Тариф',
  rowsPerMonth: 'Строк в месяц',
  history: 'История',
  requestsPerMinute: 'Запросов в минуту',
  monthPrice: 'Месяц',
  yearPrice: 'Год',
  allYears: 'Все годы',
  lastYears: (years) =>
    years === 1 ? 'Последний год' : `Последние ${number(years)} ${plural(years, yearForms)}`,
  yearNote:
    'Год стоит как десять месяцев. Строки считаются по календарным месяцам, UTC; пустые ответы и ' +
    'ошибки бесплатны.',

  interfaces: 'Три способа подключиться',
  restInterface: 'REST',
  restText: 'Запрос — это URL. Фильтры, столбцы и страницы устроены одинаково во всех наборах.',
  restLink: 'Справочник API',
  mcpInterface: 'ИИ-агенты',
  mcpText: 'Claude, Cursor и другие клиенты MCP читают те же данные с тем же токеном по адресу',
  mcpLink: 'Настройка — на странице набора',
  filesInterface: 'Файлы',
  filesText: 'CSV, NDJSON и Parquet с точными типами, по страницам или целой выгрузкой.',
  filesLink: 'Описание OpenAPI',

  explorer: 'Попробовать',
  needsScript: 'Для конструктора нужен JavaScript. Без него тот же запрос сделает эта строка:',
  withDemo: 'Демо-токен: небольшая часть строк за все годы.',
  withOwn: 'Ваш токен. Показанные здесь строки списываются с вашей квоты.',
  noToken: 'У этого набора нет демо. Введите свой токен, чтобы попробовать.',
  useOwn: 'Указать свой токен',
  forget: 'Забыть токен',
  filters: 'Фильтры',
  addFilter: 'Добавить фильтр',
  removeFilter: (column) => `Убрать фильтр по ${column}`,
  column: 'Столбец',
  operator: 'Условие',
  value: 'Значение',
  valueList: 'Значения, по одному в строке',
  columnsToShow: 'Какие столбцы показать',
  columnsChosen: (chosen, all) => `${number(chosen)} из ${number(all)}`,
  everyColumn: 'Все',
  findColumn: 'Найти столбец',
  rowsOfPage: 'Строк на странице',
  limitRange: (max) => `от 1 до ${number(max)}`,
  run: 'Выполнить',
  running: 'Запрос…',
  notAsked: 'Нажмите «Выполнить», чтобы увидеть строки.',
  noRows: 'Под эти фильтры не подходит ни одна строка.',
  noRowsSeen: (scope: string) =>
    scope.startsWith('demo')
      ? 'Демонстрационный токен видит лишь небольшую часть строк.'
      : `Ваш тариф открывает только часть строк (${scope}).`,
  failed: 'Ответ не пришёл. Проверьте соединение и выполните запрос ещё раз.',
  unreadable: 'Ответ не удалось прочитать. Запросите меньше строк или столбцов.',
  retryAfter: (seconds) => `Подождите ${number(seconds)} с и выполните запрос ещё раз.`,
  page: (page) => `Страница ${number(page)}`,
  pageRows: (rows) => `${number(rows)} ${plural(rows, rowForms)}`,
  previous: 'Предыдущая страница',
  next: 'Следующая страница',
  result: 'Строки ответа',
  rowsLeft: (rows) =>
    `${plural(rows, rowsLeftForms)} ${number(rows)} ${plural(rows, rowForms)} в этом месяце`,
  requestsLeft: (requests, of) =>
    `Запросов в эту минуту осталось: ${number(requests)} из ${number(of)}`,
  empty: 'пусто',
  chartColumn: 'Показатель',
  chartTitle: (column, over) => `${column} · ${over}`,
  chartRange: (series, first, last) => `${series}: от ${first} до ${last}`,
  request: 'Запрос',
  take: 'Использовать в своём коде',
  tools: 'Инструменты',
  yourToken: 'Поставьте свой токен вместо YOUR_TOKEN.',

  columnsText: 'Начните вводить имя, описание или единицу, чтобы сузить список.',
  search: 'Поиск по столбцам',
  found: (found, all) => `${number(found)} из ${number(all)} столбцов`,
  name: 'Имя',
  type: 'Тип',
  unit: 'Единица',
  description: 'Описание',
  byType: 'Фильтры по типам',
  filterForm: 'Фильтр пишется как столбец=оператор.значение.',
  operatorsOf: 'Операторы',

  usage: 'Мой расход',
  usageText:
    'Введите токен, чтобы увидеть, что он может и сколько израсходовано. Токен хранится только в ' +
    'этой вкладке и исчезает, когда её закрывают.',
  token: 'Токен',
  notToken: 'Токен неверный: в нём есть символы, которых в токенах не бывает. Скопируйте ещё раз.',
  show: 'Показать',
  needsScriptUsage: 'Этой странице нужен JavaScript. Без него то же скажет GET /v1/account.',
  usedFromNow: 'Теперь все запросы из этой вкладки идут с этим токеном.',
  subscription: 'Подписка',
  expires: 'Действует до',
  noEnd: 'Бессрочно',
  used: 'Использовано',
  left: 'Осталось',
  resets: 'Обновится',
  unlimited: 'Без ограничений',
  overAll: 'По всем наборам вместе',
  thisMonth: 'Этот месяц',
  months: 'Строки по месяцам',
  month: 'Месяц',
  dataset: 'Набор данных',
  noUsage: 'За последние двенадцать месяцев строки не использовались.',

  missing: 'Страница не найдена',
  missingText: 'Страница не существует или не опубликована. Все опубликованные наборы — на',
  missingLink: 'первой странице',
}
