import type { DuckDBConnection } from '@duckdb/node-api'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openDuckDb } from './harness/duckdb.js'
import { okvedClasses } from './harness/okved-classes.js'
import { operand, text } from './harness/options.js'
import { runScript } from './harness/script.js'

/** The data of this repository. Labels and sections are written by hand in its dictionaries. */
const shipped = join(import.meta.dirname, '..', 'data')

const command = {
  name: 'make-sample-data',
  usage: 'npm run data -- SOURCE_FOLDER',
  about: `Makes the sample data of a fresh clone again, from a folder with the source sample. The same source
and the same DuckDB release give the same bytes, every time.`,
  options: {
    source: operand(
      'SOURCE_FOLDER',
      `holds
    financials_girbo_2019_2025.parquet   financials_columns.csv
    procurement_44fz_2018.parquet        procurement_columns.csv
    dictionaries/okfs.csv                dictionaries/okved2_full.csv   dictionaries/okpd2_full.csv`,
    ),
    out: text('where to write', shipped),
  },
  footer: 'Example: npm run data -- ../sample',
}

interface SampleDataset {
  readonly name: string
  readonly parquet: string
  readonly columns: string
  /** SQL for the name of a row's file: a period, so that a plan's history is whole files. */
  readonly fileName: string
  /** The order of a file's rows: what is looked up comes first, and all together are unique. */
  readonly order: readonly string[]
}

const datasets: readonly SampleDataset[] = [
  {
    name: 'financials',
    parquet: 'financials_girbo_2019_2025.parquet',
    columns: 'financials_columns.csv',
    fileName: 'year::VARCHAR',
    order: ['inn', 'year'],
  },
  {
    name: 'procurement',
    parquet: 'procurement_44fz_2018.parquet',
    columns: 'procurement_columns.csv',
    fileName: "strftime(sign_date, '%Y-%m')",
    order: ['okpd2', 'sign_date', 'reg_number'],
  },
]

const codeLists = [
  { source: 'dictionaries/okfs.csv', target: 'dictionaries/okfs.csv' },
  { source: 'dictionaries/okved2_full.csv', target: 'dictionaries/okved2.csv' },
  { source: 'dictionaries/okpd2_full.csv', target: 'dictionaries/okpd2.csv' },
] as const

/** The sections of OKVED 2, which the source names in capital letters and in Russian only. */
const sections: Readonly<Record<string, readonly [english: string, russian: string]>> = {
  A: [
    'Agriculture, forestry, hunting and fishing',
    'Сельское, лесное хозяйство, охота, рыболовство и рыбоводство',
  ],
  B: ['Mining and quarrying', 'Добыча полезных ископаемых'],
  C: ['Manufacturing', 'Обрабатывающие производства'],
  D: [
    'Electricity, gas and steam supply; air conditioning',
    'Обеспечение электрической энергией, газом и паром; кондиционирование воздуха',
  ],
  E: [
    'Water supply; sewerage, waste management and remediation',
    'Водоснабжение; водоотведение, организация сбора и утилизации отходов, деятельность по ликвидации загрязнений',
  ],
  F: ['Construction', 'Строительство'],
  G: [
    'Wholesale and retail trade; repair of motor vehicles and motorcycles',
    'Торговля оптовая и розничная; ремонт автотранспортных средств и мотоциклов',
  ],
  H: ['Transportation and storage', 'Транспортировка и хранение'],
  I: [
    'Accommodation and food service activities',
    'Деятельность гостиниц и предприятий общественного питания',
  ],
  J: ['Information and communication', 'Деятельность в области информации и связи'],
  K: ['Financial and insurance activities', 'Деятельность финансовая и страховая'],
  L: ['Real estate activities', 'Деятельность по операциям с недвижимым имуществом'],
  M: [
    'Professional, scientific and technical activities',
    'Деятельность профессиональная, научная и техническая',
  ],
  N: [
    'Administrative and support service activities',
    'Деятельность административная и сопутствующие дополнительные услуги',
  ],
  O: [
    'Public administration and defence; compulsory social security',
    'Государственное управление и обеспечение военной безопасности; социальное обеспечение',
  ],
  P: ['Education', 'Образование'],
  Q: [
    'Human health and social work activities',
    'Деятельность в области здравоохранения и социальных услуг',
  ],
  R: [
    'Arts, entertainment, sports and recreation',
    'Деятельность в области культуры, спорта, организации досуга и развлечений',
  ],
  S: ['Other service activities', 'Предоставление прочих видов услуг'],
  T: [
    'Activities of households as employers and producers for own use',
    'Деятельность домашних хозяйств как работодателей; недифференцированная деятельность частных домашних хозяйств по производству товаров и оказанию услуг для собственного потребления',
  ],
  U: [
    'Activities of extraterritorial organisations and bodies',
    'Деятельность экстерриториальных организаций и органов',
  ],
}

/** The statement that a line code belongs to, by the code's first digit. */
const statements: Readonly<Record<string, readonly [string, string]>> = {
  1: ['Balance sheet', 'Баланс'],
  2: ['Income statement', 'Отчёт о финансовых результатах'],
  3: ['Statement of changes in equity', 'Отчёт об изменениях капитала'],
  4: ['Cash flow statement', 'Отчёт о движении денежных средств'],
  6: ['Report on the targeted use of funds', 'Отчёт о целевом использовании средств'],
}

/** Labels that only the printed form explains, by the lines above them or by their layout. */
const clearerLabels: Readonly<Record<string, string>> = {
  1600: 'Total assets',
  1700: 'Total equity and liabilities; equals total assets (1600)',
  2410: 'Income tax; filed as a negative number by most companies, as a positive one by some',
  2411: 'Current income tax, a part of income tax (2410)',
  2412: 'Deferred income tax, a part of income tax (2410); either sign',
  2460: 'Other items that change net profit',
}

const outflowLine = /^(2120|2210|2220|2330|2350|2411|3320|3327|4[123]2\d|63\d\d)$/
const outflowNote = [
  '; filed as a positive number by most companies, as a negative one by some',
  '; большинство подаёт положительным числом, некоторые отрицательным',
] as const
const emptyNote = ['; empty throughout this sample', '; в этой выборке пусто'] as const

/** The units of the sources in Russian. */
const russianUnits: Readonly<Record<string, string>> = {
  year: 'год',
  code: 'код',
  count: 'шт.',
  currency: 'валюта',
  RUB: 'руб.',
  'thousand RUB': 'тыс. руб.',
  'RUB per share': 'руб. на акцию',
}

/** Units that the source leaves open because they are not money. */
const plainUnits: Readonly<Record<string, string>> = {
  year: 'year',
  okfs: 'code',
  positions_count: 'count',
  suppliers_count: 'count',
}

interface SourceColumn {
  readonly name: string
  /** `false` = the publisher promises that the column is never empty. */
  readonly nullable: string
  readonly unit: string
  readonly label: string
  readonly labelRu: string
  readonly source: string
}

async function makeSampleData(sourceFolder: string, outFolder: string): Promise<void> {
  requireSource(sourceFolder)
  using duckdb = await openDuckDb()
  const { connection } = duckdb
  for (const dataset of datasets) {
    await load(connection, sourceFolder, dataset)
    const columns = await readColumns(connection, sourceFolder, dataset)
    await writeParquetFiles(connection, outFolder, dataset)
    await writeDictionary(connection, outFolder, dataset, columns)
  }
  for (const list of codeLists) {
    const text = await readFile(join(sourceFolder, list.source), 'utf8')
    // The registry's name for the English names is `name`.
    const lines = text.replaceAll('\r\n', '\n').replace(/\bname_en\b/, 'name')
    const named = list.target.includes('okved2') ? withSections(lines) : lines
    await writeText(join(outFolder, list.target), named)
  }
}

/** Adds the column `name`, which only the sections and classes have. */
function withSections(lines: string): string {
  const isSection = /^([A-U]),\1,.*$/gm
  const quoted = (text: string) => (text.includes(',') ? `"${text}"` : text)
  return lines
    .replace('code,section,name_ru', 'code,section,name,name_ru')
    .replace(
      /^(\d[\d.]*),([A-U]),/gm,
      (_, code: string, section: string) =>
        `${code},${section},${quoted(okvedClasses[code] ?? '')},`,
    )
    .replace(isSection, (_, code: string) => {
      const names = sections[code] ?? []
      return [code, code, ...names.map(quoted)].join()
    })
}

function requireSource(folder: string): void {
  if (!existsSync(folder)) throw new Error(`there is no folder ${folder}`)
  const needed = [
    ...datasets.flatMap(({ parquet, columns }) => [parquet, columns]),
    ...codeLists.map(({ source }) => source),
  ]
  const missing = needed.filter((name) => !existsSync(join(folder, name)))
  if (missing.length > 0) throw new Error(`the folder ${folder} lacks ${missing.join(', ')}`)
}

async function load(
  connection: DuckDBConnection,
  sourceFolder: string,
  { name, parquet }: SampleDataset,
): Promise<void> {
  const path = literal(join(sourceFolder, parquet))
  await connection.run(`CREATE TABLE ${name} AS SELECT * FROM read_parquet(${path})`)
}

/** The source's description of the columns, which must be those of the Parquet file, in order. */
async function readColumns(
  connection: DuckDBConnection,
  sourceFolder: string,
  { name, columns }: SampleDataset,
): Promise<SourceColumn[]> {
  const path = literal(join(sourceFolder, columns))
  const listed = await readText(
    connection,
    `SELECT "column", nullable, unit, label_en, label_ru, source
     FROM read_csv(${path}, all_varchar = true)`,
  )
  const actual = await readText(connection, `SELECT column_name FROM (DESCRIBE ${name})`)
  if (listed.map(([column]) => column).join() !== actual.join()) {
    throw new Error(`${columns} does not list the columns of the Parquet file, in its order`)
  }
  return listed.map(
    ([name = '', nullable = '', unit = '', label = '', labelRu = '', source = '']) => {
      return { name, nullable, unit, label, labelRu, source }
    },
  )
}

async function writeParquetFiles(
  connection: DuckDBConnection,
  outFolder: string,
  { name, fileName, order }: SampleDataset,
): Promise<void> {
  const parts = await readText(
    connection,
    `SELECT ${fileName} AS part, count(*)::VARCHAR FROM ${name} GROUP BY part ORDER BY part`,
  )
  for (const [part = '', rows = ''] of parts) {
    if (part === '') {
      throw new Error(`${name}: ${rows} rows belong to no file because ${fileName} is null`)
    }
    const path = join(outFolder, name, `${part}.parquet`)
    await writeWhole(path, async (temporaryPath) => {
      await connection.run(
        `COPY (SELECT * FROM ${name} WHERE ${fileName} = ${literal(part)} ORDER BY ${order.join()})
         TO ${literal(temporaryPath)} (FORMAT parquet, COMPRESSION zstd)`,
      )
    })
    console.log(`${name}/${part}.parquet: ${rows} rows`)
  }
}

async function writeDictionary(
  connection: DuckDBConnection,
  outFolder: string,
  { name }: SampleDataset,
  columns: readonly SourceColumn[],
): Promise<void> {
  const path = join(shipped, `${name}.columns.csv`)
  const texts = await readText(
    connection,
    `SELECT "column", label_en, label_ru, section, section_ru
     FROM read_csv(${literal(path)}, all_varchar = true)`,
  )
  const labelled = new Map(texts.map(([column = '', ...labels]) => [column, labels]))
  const [counts = []] = await readText(connection, `SELECT count(COLUMNS(*))::VARCHAR FROM ${name}`)
  const lines = columns.map((column, index) => {
    const unit = column.unit || (plainUnits[column.name] ?? '')
    const [english, russian] = describe(column, counts[index] === '0')
    const { name, nullable, source } = column
    const labels = labelled.get(name) ?? []
    if (labels.length !== 4) throw new Error(`${name} has no labels in ${path}`)
    return [name, ...labels, nullable, unit, english, russianUnits[unit] ?? '', russian, source]
  })
  const header =
    'column label_en label_ru section section_ru nullable unit description unit_ru description_ru source'
  const text = [header.split(' '), ...lines]
    .map((fields) => `${fields.map((field = '') => csvField(field)).join()}\n`)
    .join('')
  await writeText(join(outFolder, `${name}.columns.csv`), text)
  console.log(`${name}.columns.csv: ${lines.length} columns`)
}

/** A column's description in English and in Russian. */
function describe({ name, label, labelRu }: SourceColumn, isEmpty: boolean): readonly string[] {
  const statement = /^\d{4}$/.test(name) ? statements[name.charAt(0)] : undefined
  return [clearerLabels[name] ?? label, labelRu].map((text, language) => {
    const notes = [outflowLine.test(name) && outflowNote, isEmpty && emptyNote]
    const noted = text + notes.map((note) => (note ? note[language] : '')).join('')
    return statement === undefined ? noted : `${statement[language]}: ${noted}`
  })
}

/** Rows of a query whose every column is text; null is read as the empty text. */
async function readText(connection: DuckDBConnection, sql: string): Promise<string[][]> {
  const reader = await connection.runAndReadAll(sql)
  return reader.getRows().map((row) => row.map((value) => (value === null ? '' : String(value))))
}

async function writeText(path: string, text: string): Promise<void> {
  await writeWhole(path, async (temporaryPath) => await writeFile(temporaryPath, text))
}

/** Writes a file beside its path and renames it, so that the path never holds half a file. */
async function writeWhole(
  path: string,
  write: (temporaryPath: string) => Promise<void>,
): Promise<void> {
  const temporaryPath = `${path}.tmp`
  await mkdir(dirname(path), { recursive: true })
  try {
    await write(temporaryPath)
    await rename(temporaryPath, path)
  } finally {
    await rm(temporaryPath, { force: true })
  }
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

await runScript(command, ({ source, out }) => makeSampleData(source, out))
