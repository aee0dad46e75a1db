import type { Language } from '../config.js'
import { numberWriter, pluralChooser } from '../wording.js'

const number = numberWriter('en')
const plural = pluralChooser('en')
const rowsText = (rows: number) => `${number(rows)} ${plural(rows, { one: 'row', other: 'rows' })}`

const english = {
  find: 'Find',
  findLabel: (name: string, key: string) => `${name}, in any spelling, or ${key}`,
  foundTitle: (q: string) => `Search: ${q}`,
  foundNothing: 'Nothing was found. Check the name, or enter the beginning of the key.',
  foundScope: 'Without a subscription the search sees the demo rows only.',
  description: (name: string, key: string, first: string, last: string) =>
    `${name} (${key}): figures of ${first === last ? first : `${first}–${last}`}.`,
  cut: (rows: number) => `These are the first ${rowsText(rows)}.`,
  figures: 'Figures',
  section: 'Section',
  figure: 'Figure',
  code: 'Code',
  unit: 'Unit',
  change: 'Change',
  chart: 'Chart',
  chooseLines: 'Choose lines',
  draw: 'Draw',
  notDrawn: (max: number, lines: string) =>
    `A chart has one unit and at most ${max} lines. Not drawn: ${lines}.`,
  linesMax: (max: number) => `A comparison has at most ${max} lines; the first ${max} are shown.`,
  sameRows: 'As API call',
  download: 'Download XLSX',
  compareWith: 'Compare with',
  compare: 'Compare',
  linked: (column: string) => `by ${column}`,
  newest: (rows: number) => `The ${rowsText(rows)} that are newest; there are more.`,
  someLinked: (rows: number) => `These are ${rowsText(rows)}; there are more.`,
  undated: (rows: number) => `Without a date: ${rowsText(rows)}, at the end.`,
  noLinked: 'No rows.',
  total: (rows: number) => `Total of ${rowsText(rows)}`,
  allLinked: 'All of them, with filters',
  compareTitle: (count: number) => `Comparison of ${number(count)}`,
  compareCount: (min: number, max: number) =>
    `A comparison takes ${min} to ${max} keys: ?keys=first,second. Find and tick them first.`,
  missingKeys: (keys: string) => `Not found: ${keys}.`,
  groupsCut: 'There are more periods than a comparison reads; some are left out.',
  period: 'Period',
  median: (group: string) => `Median: ${group}`,
  medianRows: (rows: number) => `of ${rowsText(rows)} that you can see`,
  lines: 'Lines',
  price: (each: readonly string[]) =>
    `It costs the rows that it shows: ${each.join('; ')}. The same page is free for 24 hours.`,
  priceOfPeriods: (dataset: string) => `one a period of “${dataset}”`,
  priceOfLinked: (dataset: string, max: number) => `at most ${number(max)} of “${dataset}”`,
  priceOfFind: 'The search costs a share of a row for each name that it finds.',
  priceOfGroups: (dataset: string) => `one for each period of each in “${dataset}”`,
  priceOfMedians: 'one for each median',
  show: 'Show',
  charged: (rows: number) =>
    rows === 0 ? 'This page cost nothing.' : `This page cost ${rowsText(rows)}.`,
  about: {
    title: 'Title',
    question: 'Question',
    questionText: (name: string, key: string) => `All figures of ${name} (${key})`,
    link: 'Link',
    source: 'Source and licence',
    version: 'Version',
    units: 'Units',
    rows: 'Rows',
    more: 'there are more',
  },
}

/** The texts about entities, the search for them and their comparison. */
export type EntityWords = typeof english

const numberRu = numberWriter('ru')
const pluralRu = pluralChooser('ru')
const rowsRu = (rows: number) =>
  `${numberRu(rows)} ${pluralRu(rows, { one: 'строка', few: 'строки', other: 'строк' })}`

const russian: EntityWords = {
  find: 'Найти',
  findLabel: (name, key) => `${name} в любом написании или ${key}`,
  foundTitle: (q) => `Поиск: ${q}`,
  foundNothing: 'Ничего не найдено. Проверьте название или введите начало ключа.',
  foundScope: 'Без подписки поиск видит только демо-строки.',
  description: (name, key, first, last) =>
    `${name} (${key}): показатели за ${first === last ? first : `${first}–${last}`}.`,
  cut: (rows) => `Показано только начало: ${rowsRu(rows)}.`,
  figures: 'Показатели',
  section: 'Раздел',
  figure: 'Показатель',
  code: 'Код',
  unit: 'Единица',
  change: 'Изменение',
  chart: 'График',
  chooseLines: 'Выбрать показатели',
  draw: 'Нарисовать',
  notDrawn: (max, lines) =>
    `На графике одна единица и не больше ${max} показателей. Не показаны: ${lines}.`,
  linesMax: (max) => `В сравнении не больше ${max} показателей; показаны первые ${max}.`,
  sameRows: 'Запрос к API',
  download: 'Скачать XLSX',
  compareWith: 'Сравнить с',
  compare: 'Сравнить',
  linked: (column) => `по столбцу «${column}»`,
  newest: (rows) => `Самые новые, ${rowsRu(rows)}; есть ещё.`,
  someLinked: (rows) => `Здесь ${rowsRu(rows)}; есть ещё.`,
  undated: (rows) => `Без даты: ${rowsRu(rows)}, в конце.`,
  noLinked: 'Строк нет.',
  total: (rows) => `Итого, ${rowsRu(rows)}`,
  allLinked: 'Все, с фильтрами',
  compareTitle: (count) => `Сравнение: ${numberRu(count)}`,
  compareCount: (min, max) =>
    `Сравнить можно от ${min} до ${max} ключей: ?keys=первый,второй. Найдите и отметьте их.`,
  missingKeys: (keys) => `Не найдены: ${keys}.`,
  groupsCut: 'Периодов больше, чем читает сравнение; часть не показана.',
  period: 'Период',
  median: (group) => `Медиана: ${group}`,
  medianRows: (rows) => `${rowsRu(rows)} из видимых вам`,
  lines: 'Показатели',
  price: (each) =>
    `Стоит столько строк, сколько показано: ${each.join('; ')}. Та же страница 24 часа бесплатна.`,
  priceOfPeriods: (dataset) => `по одной за период из «${dataset}»`,
  priceOfLinked: (dataset, max) => `не больше ${numberRu(max)} из «${dataset}»`,
  priceOfFind: 'Поиск стоит долю строки за каждое найденное название.',
  priceOfGroups: (dataset) => `по одной за каждый период каждого из «${dataset}»`,
  priceOfMedians: 'по одной за каждую медиану',
  show: 'Показать',
  charged: (rows) => (rows === 0 ? 'Страница бесплатна.' : `Страница стоила: ${rowsRu(rows)}.`),
  about: {
    title: 'Название',
    question: 'Вопрос',
    questionText: (name, key) => `Все показатели: ${name} (${key})`,
    link: 'Ссылка',
    source: 'Источник и лицензия',
    version: 'Версия',
    units: 'Единицы',
    rows: 'Строки',
    more: 'есть ещё',
  },
}

const words: Readonly<Record<Language, EntityWords>> = { en: english, ru: russian }

/** The texts about entities in a language. */
export function entityWords(language: Language): EntityWords {
  return words[language]
}
