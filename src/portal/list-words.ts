import type { Language } from '../config.js'
import { numberWriter, pluralChooser } from '../wording.js'

const number = numberWriter('en')
const plural = pluralChooser('en')
const rows = (count: number) => `${number(count)} ${plural(count, { one: 'row', other: 'rows' })}`

/** How many lines have which status. */
interface Counts {
  readonly found: number
  readonly notFound: number
  readonly malformed: number
  readonly unfinished: number
}

const english = {
  title: 'Enrich a list',
  link: 'Add columns to your list',
  lead: (key: string) =>
    `Take a list, CSV or XLSX, with a column of this kind: ${key}. You get it back with columns ` +
    'of this dataset. The file stays on your computer: only its keys are sent. Misses are free.',
  needsScript: 'This page needs JavaScript. Without it, a command does the same:',
  list: 'Your list',
  file: 'File (.csv, .tsv, .txt or .xlsx); you can also drop it here',
  paste: 'Or paste a column',
  column: 'Column with the keys',
  noNames: 'no names above the columns: add them, or paste the column',
  tooLarge: 'it has more than 50 MB; das enrich takes lists of any size',
  unreadable: 'The list can’t be read. Correct it, or save it as XLSX, or as CSV in UTF-8.',
  match: 'Rows of each key',
  matches: {
    newest: 'the newest row',
    all: 'all rows, a line for each',
    wide: 'all rows, a column for each period',
  },
  columns: 'Columns',
  check: 'Check',
  checked: 'Your list, checked',
  lines: (lines: number, keys: number) =>
    `Lines: ${number(lines)}; different keys: ${number(keys)}.`,
  malformed: (count: number, first: string) =>
    `Malformed keys, which get no values: ${number(count)} (${first}).`,
  line: (line: number, text: string) => `line ${line}: “${text}”`,
  addZeros: (count: number) =>
    `Put back the zero at the start of keys that a spreadsheet dropped: ${number(count)}`,
  atMost: (count: number) => `It costs at most ${rows(count)}: what is not found is free.`,
  exactly: (count: number) => `It costs ${rows(count)}.`,
  unknown: 'What it costs is not known: several rows may have one key. Count them first.',
  noLimit: 'Your rows are not limited.',
  short: 'That may not be enough: the run stops then, and what was found is kept.',
  count: (cost: number) => `Count exactly, for ${rows(cost)}`,
  run: 'Run',
  goOn: 'Go on',
  stop: 'Stop',
  found: (found: number, keys: number) => `Known: ${number(found)} of ${number(keys)} keys`,
  waiting: (seconds: number) => `The server asks to wait ${number(seconds)} s.`,
  stopped: 'Stopped. What was found is kept until you change the list or leave.',
  done: 'Done.',
  counts: ({ found, notFound, malformed, unfinished }: Counts, cost: number) =>
    `Lines: found ${number(found)}, not found ${number(notFound)}, malformed ` +
    `${number(malformed)}, unfinished ${number(unfinished)}. Paid: ${rows(cost)}.`,
  download: (name: string) => `Download ${name}`,
}

type ListWords = typeof english

const numberRu = numberWriter('ru')
const pluralRu = pluralChooser('ru')
const costForms = { one: 'строку', few: 'строки', other: 'строк' }
const costRu = (count: number) => `${numberRu(count)} ${pluralRu(count, costForms)}`

const russian: ListWords = {
  title: 'Дополнить список',
  link: 'Добавить столбцы в свой список',
  lead: (key) =>
    `Возьмите список в CSV или XLSX, в котором есть столбец: ${key}. Вы получите его же со ` +
    'столбцами этого набора данных. Файл остаётся у вас: отправляются только ключи. ' +
    'Промахи бесплатны.',
  needsScript: 'Этой странице нужен JavaScript. Без него то же делает команда:',
  list: 'Ваш список',
  file: 'Файл (.csv, .tsv, .txt или .xlsx); его можно и перетащить сюда',
  paste: 'Или вставьте столбец',
  column: 'Столбец с ключами',
  noNames: 'нет названий над столбцами: добавьте их или вставьте столбец',
  tooLarge: 'в нём больше 50 МБ; das enrich берёт списки любого размера',
  unreadable: 'Список не прочитать. Исправьте его или сохраните как XLSX либо CSV в UTF-8.',
  match: 'Строки для каждого ключа',
  matches: {
    newest: 'самая новая строка',
    all: 'все строки, каждая отдельно',
    wide: 'все строки, по столбцу на период',
  },
  columns: 'Столбцы',
  check: 'Проверить',
  checked: 'Список проверен',
  lines: (lines, keys) => `Строк: ${numberRu(lines)}; разных ключей: ${numberRu(keys)}.`,
  malformed: (count, first) =>
    `Неверных ключей, для которых значений не будет: ${numberRu(count)} (${first}).`,
  line: (line, text) => `строка ${line}: «${text}»`,
  addZeros: (count) => `Вернуть ноль в начало ключей, который потеряла таблица: ${numberRu(count)}`,
  atMost: (count) => `Стоит не больше чем ${costRu(count)}: чего нет в данных, то бесплатно.`,
  exactly: (count) => `Стоит ${costRu(count)}.`,
  unknown: 'Цена неизвестна: у одного ключа может быть несколько строк. Сначала сосчитайте их.',
  noLimit: 'Число строк не ограничено.',
  short: 'Этого может не хватить: тогда работа остановится, а найденное сохранится.',
  count: (cost) => `Сосчитать точно, за ${costRu(cost)}`,
  run: 'Выполнить',
  goOn: 'Продолжить',
  stop: 'Остановить',
  found: (found, keys) => `Известно ключей: ${numberRu(found)} из ${numberRu(keys)}`,
  waiting: (seconds) => `Сервер просит подождать ${numberRu(seconds)} с.`,
  stopped: 'Остановлено. Найденное хранится, пока вы не измените список и не уйдёте.',
  done: 'Готово.',
  counts: ({ found, notFound, malformed, unfinished }, cost) =>
    `Строк списка: найдено ${numberRu(found)}, не найдено ${numberRu(notFound)}, с неверным ` +
    `ключом ${numberRu(malformed)}, не закончено ${numberRu(unfinished)}. ` +
    `Оплачено: ${costRu(cost)}.`,
  download: (name) => `Скачать ${name}`,
}

/** The texts of the page of lists in a language. */
export function listWords(language: Language): ListWords {
  return language === 'ru' ? russian : english
}
