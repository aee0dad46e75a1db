import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { answersInMemory } from '../../src/lists/answers.js'
import { askKeys } from '../../src/lists/ask-keys.js'
import { patientAsk } from '../../src/lists/ask-server.js'
import { keyColumn, readFacts } from '../../src/lists/dataset-facts.js'
import { finishList } from '../../src/lists/finish-list.js'
import { keyJudge, plainKey } from '../../src/lists/judge-key.js'
import { planOf } from '../../src/lists/list-plan.js'
import { readKeys } from '../../src/lists/read-keys.js'
import { textOfJson } from '../../src/row-texts.js'
import { guessColumn, openContent, openPasted } from '../../src/portal/browser/list/open-file.js'
import { inns, startLists } from '../cli/enrich/fixtures/lists.js'

// Lists as browsers run them: in memory, from the bytes of a file.

const lists = await startLists(t)
const noWait = () => Promise.resolve()
const [first = '', second = ''] = inns

/** Asks with a token; what the service refuses is returned. */
const askWith = (token: string) =>
  patientAsk(async (path, body) => {
    const answer = await fetch(lists.address + path, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${token}`,
        accept: path.endsWith('/query') ? 'application/x-ndjson' : 'application/json',
        ...(body && { 'content-type': 'application/json' }),
      },
    })
    const text = await answer.text()
    if (answer.ok) return { text, headers: answer.headers }
    const { error } = JSON.parse(text) as { error: 'row_quota_exceeded' }
    return new ServiceError(error, 'Refused.')
  }, noWait)

await t.test('an ended quota keeps what was found, and goes on where it stopped', async (t) => {
  const content = `inn\n${inns.join('\n')}\n`
  for (const match of ['newest', 'all', 'wide'] as const) {
    const [tiny, pro] = [await lists.token('firms:tiny'), await lists.token('firms:pro')]
    const facts = await readFacts(askWith(pro), 'firms', noWait)
    const column = keyColumn(facts, 'inn')
    const judge = keyJudge(column, false)
    const list = await openContent('list.txt', Buffer.from(content))
    const read = await readKeys(list, 'inn', judge)
    const order = { dataset: 'firms', key: 'inn', match, where: [] }
    const select = match === 'wide' ? ['name'] : ['year', 'name']
    const question = { ...order, ...planOf({ ...order, select }, facts) }
    const answers = answersInMemory((json) => plainKey(column.type, textOfJson(json)))
    let known = 0
    const run = async (token: string) => {
      answers.again()
      await askKeys(question, [...read.keys], 5, answers, askWith(token), (done) => {
        known = done
      })
    }
    const written = async (isUnfinished: (key: string) => boolean) => {
      const parts: Uint8Array[] = []
      const found = { ...question, facts, answers }
      const save = (bytes: Uint8Array) => parts.push(bytes)
      const counts = await finishList(list, read, judge, found, save, isUnfinished)
      return { ...counts, text: Buffer.concat(parts).toString() }
    }
    await t.rejects(run(tiny), { code: 'row_quota_exceeded' }, match)
    t.equal(answers.charged, 10, match)
    const stopped = await written((key) => answers.count(key) === 0)
    t.ok(stopped.found > 0 && stopped.unfinished > 0 && stopped.notFound === 0, match)
    t.equal(stopped.text.match(/,unfinished$/gm)?.length, stopped.unfinished, match)
    const before = await lists.charged()
    await run(pro)
    lists.write('list.csv', content)
    const argv = ['list.csv', '-o', `${match}.csv`, '--match', match, '--select', select.join()]
    const paid = (await lists.charged()) - before
    t.equal((await lists.enrich(argv)).code, 0)
    const whole = (await lists.charged()) - before - paid
    // A page in the middle begins again: its cursor is of the other token.
    t.equal(paid, match === 'newest' ? whole - 10 : whole, match)
    const { text, unfinished } = await written(() => false)
    t.equal(text, String(lists.read(`${match}.csv`)), match)
    t.equal(unfinished, 0)
    t.ok(known > 0)
  }
})

await t.test('the column with the keys is found by its name, or by its values', async (t) => {
  const key = { name: 'inn', type: 'string', check: 'inn' } as const
  const keys = { key, headings: ['inn', 'инн'], judge: keyJudge(key, false) }
  const guess = async (text: string) => {
    const { names, guessed } = await guessColumn(
      await openContent('a.csv', Buffer.from(text)),
      keys,
    )
    return [names.join('|'), guessed]
  }
  t.same(await guess(`n;ИНН \n1;${first}\n`), ['n|ИНН', 'ИНН'])
  t.same(await guess(`Our clients\nn;who;code\n\n1;x;${first}\n2;y;${second}\n`), [
    ...['n|who|code', 'code'],
  ])
  t.same(await guess(`n;code\n1;${first.replace(/^0/, '')}\n`), ['n|code', 'code'], 'a lost zero')
  t.same(await guess('n;who\n1;x\n'), ['n|who', 'n'])
  t.same(await guess(`${first};x\n${second};y\n`), ['', ''], 'a list without names')
  t.same(await guess(''), ['', ''])
})

await t.test('a pasted column gets a name where it has none', async (t) => {
  const key = { name: 'inn', type: 'string', check: 'inn' } as const
  const checked = { key, headings: ['inn', 'инн'], judge: keyJudge(key, false) }
  const open = { ...checked, key: { name: 'inn', type: 'string' } as const }
  const opened = async (text: string, keys: Parameters<typeof openPasted>[1]) => {
    const cells: (string | null)[][] = []
    for await (const rows of (await openPasted(text, keys)).rows()) {
      for (const row of rows) cells.push([...row.cells])
    }
    return cells
  }
  t.same(await opened(`${first}\n${second}`, checked), [['inn'], [first], [second]])
  t.same(await opened(`Клиенты\r\n${first}`, checked), [['Клиенты'], [first]])
  t.same(await opened(`a\tИНН\r\n1\t${first}\r\n`, checked), [
    ['a', 'ИНН'],
    ['1', first],
  ])
  t.same(await opened('x1\nx2', open), [['inn'], ['x1'], ['x2']], 'any text is such a key')
  t.same(await opened('ИНН\nx2', open), [['ИНН'], ['x2']])
})
