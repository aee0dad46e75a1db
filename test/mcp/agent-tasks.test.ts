import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import t from 'tap'
import type { Test } from 'tap'
import { listen } from '../support/answers.js'
import { nodeParties } from '../support/mcp/mcp-clients.js'
import { ask, financials, okved, openSql, plainRows } from '../support/mcp/task-answers.js'
import { procurement, rowsOf, valuesOf } from '../support/mcp/task-answers.js'
import type { Answer } from '../support/mcp/task-answers.js'
import { startShipped } from '../support/shipped.js'

/**
 * The ten tasks of docs/mcp.md, by the calls of a file: made through a real client, their answers
 * compared with SQL over the same files, and measured as the page's tables say.
 */

const [nodeClient] = nodeParties
const callsMax = 3
const tokensMax = 3000
/** The tables of the page may differ by this share. */
const tolerance = 0.05

/** By task, one statement for each call: its columns and rows are those of the answer. */
const expected: Readonly<Record<string, readonly string[]>> = {
  1: [
    `SELECT inn, name, year, "2110" FROM ${financials} WHERE year IN (2023, 2024) AND inn IN
      ('7708004767', '7712040126', '7740000076', '2309085638', '7736216869') ORDER BY year, inn`,
  ],
  2: [
    `SELECT year, sum("2110"), count(DISTINCT inn) FROM ${financials}
      WHERE okved[:2] = '61' AND year >= 2020 GROUP BY year ORDER BY year`,
  ],
  3: [
    `SELECT reg_number, sign_date, customer_name, price_rub FROM ${procurement}
      WHERE lower(supplier_name) LIKE '%мосэнергосбыт%' AND price_rub >= 30000000
      ORDER BY okpd2, sign_date, reg_number`,
  ],
  4: [
    `SELECT year, name, okved, "2110", "2400", "1200", "1300", "1400", "1500", "1600"
      FROM ${financials} WHERE inn = '7720518494' ORDER BY year`,
    `SELECT count(*), sum(price_rub), max(sign_date) FROM ${procurement}
      WHERE supplier_inn = '7720518494'`,
    `SELECT count(*), sum(price_rub), max(sign_date) FROM ${procurement}
      WHERE customer_inn = '7720518494'`,
  ],
  5: [
    `SELECT class, any_value(l.name), median("2400" / nullif("2110", 0)) AS margin, count(*)
      FROM (SELECT *, okved[:2] AS class FROM ${financials}) LEFT JOIN ${okved} l ON code = class
      WHERE year = 2024 GROUP BY class HAVING count(*) >= 5 ORDER BY margin DESC`,
  ],
  6: [
    `SELECT inn, name, "2400" FROM ${financials} WHERE year = 2024
      ORDER BY "2400" DESC NULLS LAST LIMIT 10`,
  ],
  7: [`SELECT inn, name FROM ${financials} WHERE lower(name) LIKE '%аэрофлот%' AND year = 2025`],
  8: [
    `SELECT customer_inn, customer_name, sum(price_rub) AS spend, count(*) FROM ${procurement}
      GROUP BY ALL ORDER BY spend DESC LIMIT 10`,
  ],
  9: [`SELECT count(*) FROM ${financials} WHERE year = 2024 AND "2400" < 0`],
  10: [
    `SELECT supplier_inn, count(*) FROM ${procurement} GROUP BY 1 ORDER BY 1`,
    `SELECT inn, name FROM ${financials} WHERE year = 2025
      AND inn IN (SELECT supplier_inn FROM ${procurement}) ORDER BY inn`,
  ],
}

interface TaskCall {
  readonly task: string
  readonly tool: string
  /** The text of the arguments; `[…name]` stands for the values of a column of the answer before. */
  readonly args: string
}

const section =
  readFileSync('docs/mcp.md', 'utf8').split('\n## Ten tasks\n')[1]?.split('\n## ')[0] ?? ''
const listed = readFileSync('test/mcp/fixtures/agent-tasks.txt', 'utf8')
const calls = [...listed.matchAll(/^(\d+) +(\w+) (\{.*\})$/gm)].map(
  ([, task = '', tool = '', args = '']): TaskCall => ({ task, tool, args }),
)

/** The cells of the rows of a table, by the first cell. */
function tableRows(pattern: RegExp): ReadonlyMap<string, readonly string[]> {
  const rows = section.split('\n').filter((line) => pattern.test(line))
  const cells = rows.map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
  return new Map(cells.map(([first = '', ...others]) => [first, others]))
}

function isNear(t: Test, actual: number, shown: string | undefined, label: string): void {
  const isRight = Math.abs(actual - Number(shown?.replace(',', ''))) <= actual * tolerance
  t.ok(isRight, `${label}: measured ${actual}, the page says ${shown}`)
}

await t.test('ten tasks of an agent have right answers in few calls and tokens', async (t) => {
  const world = await startShipped(t)
  // Otherwise a busy machine describes columns without what they hold.
  await world.app.prepare()
  const { token } = await world.subscribe(['financials:pro', 'procurement:pro'])
  const url = `http://127.0.0.1:${await listen(world)}/mcp/`
  const client = await nodeClient.connect({ url, token, folder: join(world.folder, 'client') })
  const sql = await openSql(t)
  const tokens = new Map<string, number[]>()
  try {
    let before: Answer | null = null
    for (const { task, tool, args: written } of calls) {
      const place = tokens.get(task)?.length ?? 0
      const args: string = written.replace(/\[…(\w+)\]/, (_, name: string) =>
        JSON.stringify(before ? valuesOf(before, name) : []),
      )
      const answer = await ask(client, tool, JSON.parse(args) as object)
      tokens.set(task, [...(tokens.get(task) ?? []), countTokens(args) + countTokens(answer.text)])
      const rows = plainRows(rowsOf(answer))
      t.same(rows, plainRows(await sql(expected[task]?.[place] ?? '')), `${task}: ${tool}`)
      t.ok(rows.length > 0, `${task}: ${tool}`)
      before = answer
    }
    const shown = tableRows(/^\| \d/)
    t.same([...tokens.keys()], Object.keys(expected))
    t.same([...shown.keys()], Object.keys(expected))
    for (const [task, each] of tokens) {
      const total = each.reduce((sum, count) => sum + count, 0)
      t.ok(each.length <= callsMax && total <= tokensMax, `${task}: ${total} tokens`)
      t.equal(shown.get(task)?.[1], String(each.length), `${task}: calls`)
      isNear(t, total, shown.get(task)?.[2], task)
    }
    const described = tableRows(/^\| (?:`|the list)/)
    const names = ['financials', 'procurement']
    const texts = [
      JSON.stringify(((await client.listTools()) as { tools: unknown }).tools),
      (await ask(client, 'list_resources', {})).text,
      ...(await Promise.all(
        names.map(async (resource) => (await ask(client, 'describe_resource', { resource })).text),
      )),
    ]
    t.equal(described.size, texts.length)
    for (const [index, [name, [count]]] of [...described].entries()) {
      isNear(t, countTokens(texts[index] ?? ''), count, name)
    }
  } finally {
    await client.close()
  }
})
