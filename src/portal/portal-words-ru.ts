import { pluralChooser } from '../wording.js'
import type { PortalWords } from './portal-words-en.js'
import { writersOf } from './writers.js'

const { dayOfYear, ...writers } = writersOf('ru')
const { number } = writers
const plural = pluralChooser('ru')

const rowForms = { one: 'строка', few: 'строки', other: 'строк' }
const costForms = { one: 'строку', few: 'строки', other: 'строк' }
const groupForms = { one: 'группа', few: 'группы', other: 'групп' }
const genitiveRowForms = { one: 'строки', other: 'строк' }
const yearForms = { one: 'год', few: 'года', other: 'лет' }
const rowsLeftForms = { one: 'Осталась', other: 'Осталось' }

/** Портал по-русски. */
export const russianWords: PortalWords = {
  ...writers,
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

  skip: 'К содержанию',
  languages: 'Язык',
  menu: 'Главное меню',
  navigation: { datasets: 'Наборы данных', reference: 'Справочник API', account: 'Моя подписка' },
  footer: 'Без cookie, пока вы не вошли; без слежки. Токен остаётся в своей вкладке.',

  ownPages: { terms: 'Условия', privacy: 'Персональные данные', about: 'О сервисе' },
  inn: (digits: string) => `ИНН ${digits}`,

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
  columns: 'Столбцов',
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
  mcpLink: 'Как пользоваться: терминал, Python, агенты, Excel',
  filesInterface: 'Файлы',
  filesText: 'CSV, NDJSON и Parquet с точными типами, по страницам или целой выгрузкой.',
  filesLink: 'Описание OpenAPI',

  explorer: 'Попробовать',
  needsScript: 'Для конструктора нужен JavaScript. Без него тот же запрос сделает эта строка:',
  withDemo: 'Демо-токен: небольшая часть строк за все годы.',
  withOwn: 'Ваш токен. Показанные здесь строки списываются с вашей квоты.',
  noToken: 'У этого набора нет демо. Введите свой токен, чтобы попробовать.',
  useOwn: 'Указать свой токен',
  useToken: 'Применить',
  forget: 'Забыть токен',
  filters: 'Фильтры',
  tabs: { rows: 'Строки', analyse: 'Анализ' },
  addFilter: 'Добавить фильтр',
  removeFilter: (column) => `Убрать фильтр по ${column}`,
  column: 'Столбец',
  operator: 'Условие',
  value: 'Значение',
  valueList: 'Значения, по одному в строке',
  columnsToShow: 'Какие столбцы показать',
  columnsChosen: (chosen, all) => `${number(chosen)} из ${number(all)}`,
  everyColumn: 'Все',
  none: 'Ни одного',
  noColumn: 'не отмечен ни один, показаны все',
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
  pageGone: 'Страница устарела или открыта с другим токеном. Нажмите «Выполнить», чтобы начать.',
  failed: 'Ответ не пришёл. Проверьте соединение и выполните запрос ещё раз.',
  unreadable: 'Ответ не удалось прочитать. Запросите меньше строк или столбцов.',
  refusals: {
    bad_request: 'В запросе ошибка. Исправьте её и отправьте запрос ещё раз.',
    unauthorized: 'Токен неизвестен, отозван или истёк. Скопируйте его ещё раз или укажите другой.',
    forbidden: 'Отсюда запросы не принимаются. Откройте эту страницу по адресу сервиса.',
    not_found: 'С этим токеном доступа сюда нет. Посмотрите тарифы или укажите другой токен.',
    method_not_allowed: 'Сервис не принимает такой запрос. Обновите страницу.',
    not_acceptable: 'Такого формата у сервиса нет. Выберите другой.',
    conflict: 'Сервис уже получил это, но с другим содержанием.',
    payload_too_large: 'Запрос слишком длинный. Сократите списки значений.',
    unsupported_media_type: 'Сервис не может прочитать этот запрос. Обновите страницу.',
    headers_too_large: 'Запрос слишком длинный. Сократите списки значений.',
    rate_limit_exceeded: 'Слишком много запросов за минуту.',
    row_quota_exceeded:
      'В вашем лимите осталось слишком мало строк. Запросите меньше или выберите тариф больше.',
    internal_error: 'Сбой сервиса. Повторите запрос; если не поможет, сообщите владельцу.',
    service_unavailable: 'Сервис занят, или данные сейчас недоступны.',
    timeout:
      'Запрос занял слишком много времени. Запросите меньше строк, столбцов, групп, показателей.',
  },
  retryAfter: (seconds) => `Подождите ${number(seconds)} с и повторите.`,
  retryOn: (time) => `Лимит обновится ${dayOfYear(time)}.`,
  page: (page) => `Страница ${number(page)}`,
  pageRows: (rows) => `${number(rows)} ${plural(rows, rowForms)}`,
  sortedBy: (column, isDescending) => `${column}: сначала ${isDescending ? 'большие' : 'меньшие'}`,
  previous: 'Предыдущая страница',
  next: 'Следующая страница',
  result: 'Строки ответа',
  charged: (rows) => `Ответ стоил ${number(rows)} ${plural(rows, costForms)}`,
  rowsLeft: (rows) =>
    `${plural(rows, rowsLeftForms)} ${number(rows)} ${plural(rows, rowForms)} в этом месяце`,
  requestsLeft: (requests, of) =>
    `Запросов в эту минуту осталось: ${number(requests)} из ${number(of)}`,
  takeAway: 'Сохранить как',
  allRows: 'Все строки (CSV)',
  downloading: 'Загрузка…',
  saved: (name, size) => `Сохранено: ${name}, ${size}`,
  cancel: 'Отменить',
  cancelled: 'Отменено. Уже отправленные строки учтены.',
  empty: 'пусто',
  chartColumn: 'Показатель',
  chartTitle: (column, over) => `${column} · ${over}`,
  chartRange: (series, first, last) => `${series}: от ${first} до ${last}`,
  chartNeedsAll:
    'График не построен: он выдал бы часть строк за все. Добавьте фильтры или увеличьте лимит.',
  notDrawn: (count) => `Ещё ${number(count)} — только в таблице.`,
  otherGroups: 'Прочие',
  otherAdded: (count) => `«Прочие» — сумма остальных, всего ${number(count)}.`,

  measures: 'Показатели',
  measure: 'Показатель',
  addMeasure: 'Добавить показатель',
  removeMeasure: (measure) => `Убрать показатель ${measure}`,
  countRows: 'число строк',
  functions: {
    sum: 'сумма',
    avg: 'среднее',
    median: 'медиана',
    p10: '10-й процентиль',
    p90: '90-й процентиль',
    min: 'наименьшее значение',
    max: 'наибольшее значение',
    distinct: 'разных значений',
    count: 'заполненных значений',
    ratio: 'отношение',
    growth: 'рост',
  },
  groupBy: 'Группировать по',
  addGroup: 'Добавить группу',
  removeGroup: (group) => `Убрать группу ${group}`,
  level: (name) => `уровень ${name}`,
  shareUnit: 'доля',
  dateParts: { year: 'год', quarter: 'квартал', month: 'месяц', day: 'день' },
  order: 'Порядок',
  orderByGroups: 'по группам',
  largestFirst: (key) => `${key}, по убыванию`,
  smallestFirst: (key) => `${key}, по возрастанию`,
  groupsOfAnswer: 'Групп не больше',
  notAnalysed: 'Нажмите «Выполнить», чтобы увидеть график и таблицу.',
  groupsShown: (groups) => `${number(groups)} ${plural(groups, groupForms)}`,
  firstGroups: (shown, all) => `Первые ${number(shown)} из ${number(all)} групп`,
  rowsMet: (rows) => `из ${number(rows)} ${plural(rows, genitiveRowForms)}`,
  labels: 'Название',
  planWithoutAggregates: 'Ваш тариф даёт только строки, без анализа. Они на вкладке «Строки».',
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
  facts: {
    heading: 'Значения',
    loading: 'Загружаем, что есть в столбцах…',
    counted: (rows) => `Значения посчитаны по строкам, которые видит токен: ${number(rows)}.`,
    sampled: (rows) =>
      `Значения посчитаны по части строк, которые видит токен: ${number(rows)}. ` +
      'В остальных могут быть другие.',
    late: 'Подсчёт значений занял слишком много времени. Откройте страницу позже.',
    noRows: 'Значений нет: токен не видит ни одной строки.',
    filled: (share) => `заполнено ${share}`,
    none: 'пусто во всех строках',
    range: (least, greatest) => `${least} – ${greatest}`,
    mostIn: (share, range) => `Гистограмма: больше всего, ${share}, в диапазоне ${range}`,
    valuesInAll: (count) => `всего разных значений: ${number(count)}`,
  },
  byType: 'Фильтры по типам',
  filterForm: 'Фильтр пишется как столбец=оператор.значение.',
  operatorsOf: 'Операторы',
  measuresOf: 'Показатели',
  groupsOf: 'Группы',

  referenceText:
    'Все пути, параметры, столбцы, ответы и ошибки REST. Справочник написан по-английски.',
  referenceScript: 'Этой странице нужен JavaScript. Описание OpenAPI читается и без него.',
  referencePublic: 'Опубликованные наборы данных.',
  referenceOwn: 'Наборы данных вашего токена.',

  account: 'Моя подписка',
  accountText:
    'Введите токен, чтобы увидеть тарифы и расход и управлять подпиской. Токен хранится только в ' +
    'этой вкладке и исчезает, когда её закрывают.',
  token: 'Токен',
  notToken: 'Токен неверный: в нём есть символы, которых в токенах не бывает. Скопируйте ещё раз.',
  show: 'Показать',
  usedFromNow: 'Теперь все запросы из этой вкладки идут с этим токеном.',
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
  problems: {
    later: {
      title: 'Не сейчас',
      text: 'Сервис пока не может ответить. Повторите попытку чуть позже.',
    },
    failed: {
      title: 'Что-то пошло не так',
      text: 'Это ошибка сервиса. Владелец найдёт её в журнале.',
    },
    refused: {
      title: 'На этот запрос нельзя ответить',
      text: 'Вернитесь назад и попробуйте ещё раз.',
    },
  },
  missingLink: 'первой странице',
}
