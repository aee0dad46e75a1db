import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { NameIndex } from '../src/names/find-names.js'
import { writeNameIndex } from '../src/names/write-names.js'
import type { NamedEntity } from '../src/names/write-names.js'
import { makeFolder } from './harness/fixture.js'
import { whole } from './harness/options.js'
import { randomOf } from './harness/random.js'
import type { Random } from './harness/random.js'
import { runScript } from './harness/script.js'
import { quantile } from './harness/statistics.js'
import { dirtyQuestions } from './bench/names/dirty-questions.js'
import { prepared, readings, score } from './bench/names/score.js'

const command = {
  name: 'bench-find',
  usage: 'tsx scripts/bench-find.ts',
  about: `Measures the index of names over generated names of companies with near twins: how long it
takes to write, its size on disk and in memory, how long a question takes, and how many dirty
questions (typos, layouts, Latin, forms, joined and split words, initials, beginnings, some words)
have the right company among the first three. A scorer of its own judges the question's company
and the 50 best of the index; a question counts where at most three are equally right or better.`,
  options: {
    names: whole('names', 2_500_000, 1000, 1e8),
    questions: whole('companies that are asked for, by several questions each', 300, 1, 1e6),
    seed: whole('of names and questions', 43, 0, 1e9),
  },
}

const heads =
  'Альфа Вектор Север Союз Лидер Прогресс Заря Мир Волга Урал Восток Гранит Энерго'.split(' ')
const trades =
  'строй транс торг инвест снаб агро пром тех сервис лизинг финанс мед нефть газ'.split(' ')
const kinds = 'Компания Группа Холдинг Завод Фабрика Центр Комбинат Капитал Проект Регион'.split(
  ' ',
)
const places = 'Московский Сибирский Уральский Казанский Донской Невский Южный Северный'.split(' ')
const syllables =
  'ба во ге ди жу за ки ло ме ни по ру са те фо хи ца чу ша эл юр яр мал кор вен'.split(' ')
const forms = ['Общество с ограниченной ответственностью', 'ООО', 'Акционерное общество', 'ПАО']

function coined({ whole: number, oneOf }: Random): string {
  const word = Array.from({ length: number(2, 4) }, () => oneOf(syllables)).join('')
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`
}

/** A name like those of companies; every third is the twin of another but for a word or number. */
function nameOf(at: number, seed: number): string {
  const twin = at % 3 === 0 && at > 0 ? at - 1 : at
  const random = randomOf(seed, twin)
  const { whole: number, oneOf } = random
  const words = [
    oneOf([oneOf(heads), coined(random), coined(random), `${coined(random)}${oneOf(trades)}`]),
  ]
  if (number(0, 2) > 0) words.push(`${oneOf([coined(random), oneOf(heads)])}${oneOf(trades)}`)
  if (number(0, 3) === 0) words.unshift(oneOf(places))
  if (number(0, 3) === 0) words.push(oneOf(kinds))
  if (number(0, 5) === 0) words.push(String(number(1, 999)))
  if (twin !== at) words.push(oneOf([...kinds, String(at % 1000)]))
  return `${oneOf(forms)} "${words.join(' ')}"`
}

function* entities(count: number, seed: number): Generator<NamedEntity> {
  for (let at = 0; at < count; at++) {
    const key = keyOf(at)
    const facts = `{"year":2025,"revenue":${at}}`
    yield { key, name: nameOf(at, seed), periods: 127, demoPeriods: 0, rank: at % 9973, facts }
  }
}

const keyOf = (at: number) => String(1_000_000_000 + ((at * 7919) % 8_999_999_993))

function judge(index: NameIndex, name: string, key: string, q: string) {
  const question = { q, window: 127, isDemo: false }
  const start = performance.now()
  const found = index.find({ ...question, limit: 10 })
  const ms = performance.now() - start
  const asked = readings(q)
  const own = score(asked, prepared(name))
  const rivals = index
    .find({ ...question, limit: 50 })
    .filter((match) => match.key !== key && score(asked, prepared(match.matched)) >= own)
  const isMet = found
    .slice(0, 3)
    .some((match) => match.key === key || score(asked, prepared(match.matched)) >= own)
  return { ms, isCounted: own > 0 && rivals.length < 3, isMet }
}

const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`

await runScript(command, async ({ names, questions, seed }, run) => {
  const path = join(await makeFolder(run, 'find-names'), 'names.db')
  const start = performance.now()
  await writeNameIndex(path, entities(names, seed), [])
  run.print(`written in ${((performance.now() - start) / 1000).toFixed(0)} s\n`)
  run.print(
    `${mib((await stat(path)).size)} on disk; writing took ${mib(process.resourceUsage().maxRSS * 1024)}\n`,
  )
  globalThis.gc?.()
  const before = process.memoryUsage().arrayBuffers
  const opening = performance.now()
  const index = NameIndex.open(path)
  const openMs = performance.now() - opening
  run.print(
    `opened in ${openMs.toFixed(0)} ms; arrays ${mib(process.memoryUsage().arrayBuffers - before)}\n`,
  )
  const times: number[] = []
  const kindCounts = new Map<string, [number, number]>()
  const kindTimes = new Map<string, number[]>()
  const random = randomOf(seed, 1)
  for (let asked = 0; asked < questions; asked++) {
    const at = random.whole(0, names - 1)
    const name = nameOf(at, seed)
    for (const { kind, q } of dirtyQuestions(name, random)) {
      const { ms, isCounted, isMet } = judge(index, name, keyOf(at), q)
      times.push(ms)
      kindTimes.set(kind, [...(kindTimes.get(kind) ?? []), ms])
      if (!isCounted) continue
      const [met, all] = kindCounts.get(kind) ?? [0, 0]
      kindCounts.set(kind, [met + Number(isMet), all + 1])
      if (!isMet) run.log(`missed: ${kind}: ${q} (${name})`)
    }
  }
  index.close()
  const met = [...kindCounts.values()].reduce((sum, [each]) => sum + each, 0)
  const all = [...kindCounts.values()].reduce((sum, [, each]) => sum + each, 0)
  for (const [kind, [good, of]] of kindCounts) {
    run.print(
      `${kind}: ${good} of ${of}, p95 ${quantile(kindTimes.get(kind) ?? [], 0.95).toFixed(1)} ms\n`,
    )
  }
  run.print(
    `${met} of ${all} counted questions of ${times.length}: ${((100 * met) / all).toFixed(2)} %\n`,
  )
  const figures = [0.5, 0.95, 0.99, 1].map((share) => quantile(times, share).toFixed(1))
  run.print(
    `find: p50 ${figures[0]} ms, p95 ${figures[1]} ms, p99 ${figures[2]} ms, max ${figures[3]} ms\n`,
  )
  await rm(path)
})
