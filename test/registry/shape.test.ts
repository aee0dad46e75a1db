import t from 'tap'
import Type from 'typebox'
import { Settings } from 'typebox/system'
import { recordOf, shapeProblems } from '../../src/registry/shape.js'

const strict = { additionalProperties: false }
const schema = Type.Object(
  {
    name: Type.String({ description: 'a name' }),
    parts: Type.Optional(
      Type.Array(Type.Object({ size: Type.Number() }, strict), { description: 'a list of parts' }),
    ),
    either: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String())], { description: 'a text or texts' }),
    ),
  },
  { ...strict, description: 'a thing' },
)

function problems(value: unknown): readonly string[] {
  return shapeProblems(schema, value, 'the thing').map(({ name, message }) => `${name}: ${message}`)
}

await t.test('a value of the right shape has no problem', (t) => {
  t.same(problems({ name: 'x', parts: [{ size: 1 }], either: ['a'] }), [])
  t.end()
})

await t.test('each wrong part is reported once, with what is allowed and what was found', (t) => {
  t.same(problems(5), ['the thing: must be a thing, got 5.'])
  t.same(problems({ name: 5, parts: 5 }), [
    'name: must be a name, got 5.',
    'parts: must be a list of parts, got 5.',
  ])
  t.same(problems({ name: 'x', parts: [{ size: 'x' }] }), ['parts.0.size: must be valid, got "x".'])
  t.same(problems({ name: 'x', either: 5 }), ['either: must be a text or texts, got 5.'])
  t.same(problems({ name: 'x', either: ['a', 5] }), ['either.1: must be a text or texts, got 5.'])
  t.same(problems({ parts: [{}] }), ['name: is missing.', 'parts.0.size: is missing.'])
  t.same(problems({ name: 'x', nam: 1 }), ['nam: unknown key. Did you mean "name"?'])
  t.same(problems({ name: 'x', 'a/b~c': 1 }), ['"a/b~c": unknown key.'])
  t.end()
})

await t.test(
  'a hundred mistakes are a hundred problems, and the library keeps its settings',
  (t) => {
    const before = Settings.Get().maxErrors
    const parts = Array.from({ length: 100 }, () => ({ size: 'x' }))
    t.equal(problems({ name: 'x', parts }).length, 100)
    t.equal(Settings.Get().maxErrors, before)
    t.end()
  },
)

// Guarantee: a token in the wrong place does not reach a log.
await t.test('the value of a key named token is left out of messages', (t) => {
  const tokenSchema = Type.Object({ token: Type.String({ pattern: '^x', description: 'a token' }) })
  const [problem] = shapeProblems(tokenSchema, { token: 'das_live_secret' }, 'the thing')
  t.equal(problem?.message, 'must be a token.')
  t.end()
})

await t.test('recordOf gives the fields of any value', (t) => {
  t.same(recordOf({ a: 1 }), { a: 1 })
  for (const value of [null, undefined, 5, 'text', true]) t.same(recordOf(value), {})
  t.end()
})
