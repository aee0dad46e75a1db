import type { Language } from '../config.js'
import { numberWriter, pluralChooser } from '../wording.js'

const number = numberWriter('en')
const plural = pluralChooser('en')
const rows = (count: number) => `${number(count)} ${plural(count, { one: 'row', other: 'rows' })}`

const english = {
  title: 'Enrich a list',
  link: 'Add columns to your list',
  lead: (key: string) =>
    `Take a list that has ${key}, CSV or XLSX, and get it back with columns of this dataset. The ` +
    'file stays on your computer: only the keys are sent. Keys that are not found cost nothing.',
  needsScript: 'This page needs JavaScript. Without it, a command does the same:',
  list: 'Your list',
  file: 'File (.csv, .tsv, .txt or .xlsx); you can also drop it here',
  paste: 'Or paste a column',
  column: 'Column with the keys',
  noNames: 'No names of columns were found: the first row must have them.',
  unreadable: 'The list can’t be read.',
  match: 'Rows of each key',
  matches: {
    newest: 'the newest row',
    all: 'all rows, a line for each',
    wide: 'all rows, a column for each period',
  },
  columns: 'Columns',
  check: 'Check',
  lines: (lines: number, keys: number) =>
    `Lines: ${number(lines)}; different keys: ${number(keys)}.`,
  malformed: (count: number, first: string) =>
    `Malformed keys, which get no values: ${number(count)} (${first}).`,
  line: (line: number, text: string) => `line ${line}: ${text}`,
  addZeros: (count: number) =>
    `Put back the zero at the start of keys that a spreadsheet dropped: ${number(count)}`,
  atMost: (count: number) => `It costs at most ${rows(count)}: what is not found is free.`,
  exactly: (count: number) => `It costs ${rows(count)}.`,
  unknown: 'What it costs is not known: several rows may have one key. Count them first.',
  noLimit: 'Your rows are not limited.',
  short: 'That may not be enough. What is found until then stays, and you can go on later.',
  count: (cost: number) => `Count exactly, for ${rows(cost)}`,
  run: 'Run',
  goOn: 'Go on',
  stop: 'Stop',
  found: (found: number, keys: number) => `Known: ${number(found)} of ${number(keys)} keys`,
  waiting: (seconds: number) => `The server asks to wait ${number(seconds)} s.`,
  stopped: (cost: number) =>
    `Stopped. ${rows(cost)} paid so far; they are kept until you change the list or leave.`,
  done: (found: number, missed: number, malformed: number, cost: number) =>
    `Done. Lines found: ${number(found)}, not found: ${number(missed)}, malformed: ` +
    `${number(malformed)}. It cost ${rows(cost)}.`,
  changed: 'The data changed meanwhile: rows are of several versions.',
  spare: (count: number) => `Keys with several rows: ${rows(count)} are not shown.`,
  download: (name: string) => `Download ${name}`,
  unfinished: (count: number) => `Lines with the status “unfinished”: ${number(count)}.`,
}

type ListWords = typeof english

const numberRu = numberWriter('ru')
const pluralRu = pluralChooser('ru')
const rowForms = { one: 'строка', few: 'строки', other: 'строк' }
const costForms = { one: 'строку', few: 'строки', other: 'строк' }
const rowsRu = (count: number) => `${numberRu(count)} ${pluralRu(count, rowForms)}`
const costRu = (count: number) => `${numberRu(count)} ${pluralRu(count, costForms)}`

const russian: ListWords = {
  title: 'Дополнить список',
  link: 'Добавить столбцы в свой список',
  lead: (key) =>
    `Возьмите список, в котором есть ${key}, в CSV или XLSX, и получите его же со столбцами этого ` +
    'набора данных. Файл остаётся на вашем компьютере: отправляются только ключи. Ключи, которых ' +
    'нет в данных, ничего не стоят.',
  needsScript: 'Этой странице нужен JavaScript. Без него то же делает команда:',
  list: 'Ваш список',
  file: 'Файл (.csv, .tsv, .txt или .xlsx); его можно и перетащить сюда',
  paste: 'Или вставьте столбец',
  column: 'Столбец с ключами',
  noNames: 'Названия столбцов не найдены: они должны быть в первой строке.',
  unreadable: 'Список не удалось прочитать.',
  match: 'Строки для каждого ключа',
  matches: {
    newest: 'самая новая строка',
    all: 'все строки, каждая отдельно',
    wide: 'все строки, по столбцу на период',
  },
  columns: 'Столбцы',
  check: 'Проверить',
  lines: (lines, keys) => `Строк: ${numberRu(lines)}; разных ключей: ${numberRu(keys)}.`,
  malformed: (count, first) =>
    `Неверных ключей, для которых значений не будет: ${numberRu(count)} (${first}).`,
  line: (line, text) => `строка ${line}: ${text}`,
  addZeros: (count) => `Вернуть ноль в начало ключей, который потеряла таблица: ${numberRu(count)}`,
  atMost: (count) => `Стоит не больше чем ${costRu(count)}: чего нет в данных, то бесплатно.`,
  exactly: (count) => `Стоит ${costRu(count)}.`,
  unknown: 'Цена неизвестна: у одного ключа может быть несколько строк. Сначала сосчитайте их.',
  noLimit: 'Число строк не ограничено.',
  short: 'Этого может не хватить. Найденное останется, а продолжить можно позже.',
  count: (cost) => `Сосчитать точно, за ${costRu(cost)}`,
  run: 'Выполнить',
  goOn: 'Продолжить',
  stop: 'Остановить',
  found: (found, keys) => `Известно ключей: ${numberRu(found)} из ${numberRu(keys)}`,
  waiting: (seconds) => `Сервер просит подождать ${numberRu(seconds)} с.`,
  stopped: (cost) =>
    `Остановлено. Уже оплачено: ${rowsRu(cost)}; они хранятся, пока вы не измените список и не уйдёте.`,
  done: (found, missed, malformed, cost) =>
    `Готово. Строк списка найдено: ${numberRu(found)}, не найдено: ${numberRu(missed)}, с ` +
    `неверным ключом: ${numberRu(malformed)}. Стоило: ${rowsRu(cost)}.`,
  changed: 'Данные за это время обновились: строки взяты из нескольких версий.',
  spare: (count) => `У некоторых ключей строк несколько; не показано: ${rowsRu(count)}.`,
  download: (name) => `Скачать ${name}`,
  unfinished: (count) => `Строк списка со статусом «unfinished»: ${numberRu(count)}.`,
}

/** The texts of the page of lists in a language. */
export function listWords(language: Language): ListWords {
  return language === 'ru' ? russian : english
}
