import t from 'tap'
import { requireBounded } from '../../src/query/scan-json.js'

function refusal(text: string): string {
  try {
    requireBounded(text, 'It')
  } catch (cause) {
    const { code, detail } = cause as { code?: string; detail?: string }
    if (code === 'bad_request') return detail ?? ''
    throw cause
  }
  return ''
}

await t.test('a text holds so many levels, keys and values, and no more', (t) => {
  const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const ones = (count: number) => `[${Array(count).fill(1).join()}]`
  const keys = (count: number) => `{${Array(count).fill('"k":1').join()}}`
  t.equal(refusal(lists(32)), '')
  t.equal(refusal(lists(33)), 'It is nested more than 32 levels deep.')
  t.equal(refusal(keys(500)), '')
  t.equal(refusal(keys(501)), 'It has more than 500 keys.')
  t.equal(refusal(ones(55_000)), '')
  t.match(refusal(ones(55_001)), /^It has more than 55000 values: .+ 50 filters.+ 1000 values\.$/)
  t.match(refusal(`[${Array(55_001).fill('[]').join()}]`), /55000 values/)
  t.match(refusal('[]'.repeat(55_001)), /55000 values/, 'commas or not')
  t.end()
})

await t.test('the content of strings does not count, also with escaped quotes', (t) => {
  for (const inside of ['[', '{', ',', ':', '\\"[', '\\\\', '\\\\\\"', 'ж[', '\\u005b']) {
    t.equal(refusal(`["${inside.repeat(100_000)}"]`), '', inside)
  }
  t.equal(refusal(`["\\\\",${'['.repeat(33)}`), 'It is nested more than 32 levels deep.')
  t.equal(refusal(`"${','.repeat(100_000)}`), '', 'one without an end is for the parser')
  t.equal(refusal('"\\'), '')
  t.end()
})
