import t from 'tap'
import { RegistryError, parseRegistry } from '../../src/registry/registry.js'

/** What is wrong with a registry whose one prompt has these lines, from line 3 on. */
function problemsOf(...lines: readonly string[]): readonly string[] {
  const prompt = lines.map((line, index) => `${index === 0 ? '- ' : '  '}${line}\n`).join('')
  try {
    parseRegistry(
      `datasets: {things: {title: x, files: y}}\nprompts:\n${prompt}`,
      '/srv/registry.yaml',
    )
  } catch (cause) {
    if (cause instanceof RegistryError) return cause.problems
    throw cause
  }
  return []
}

const head = ['name: check', 'title: Check', 'description: Checks', 'datasets: [things]']

await t.test('a registry without prompts has none', (t) => {
  t.same(parseRegistry('datasets: {}', '/srv/registry.yaml').prompts, [])
  t.end()
})

await t.test('a prompt has name, title, description, datasets, arguments and text', (t) => {
  t.same(problemsOf(...head, 'text: Hello'), [])
  const args = "arguments: [{name: id, description: an id, required: true, pattern: '[0-9]+'}]"
  t.same(problemsOf(...head, args, 'text: \'{id} and {"json": true}\''), [])
  t.same(problemsOf('name: check'), [
    'registry.yaml:3:3: prompts.0.datasets: is missing.',
    'registry.yaml:3:3: prompts.0.description: is missing.',
    'registry.yaml:3:3: prompts.0.text: is missing.',
    'registry.yaml:3:3: prompts.0.title: is missing.',
  ])
  t.end()
})

await t.test('a mistake in a prompt is reported with line and column', (t) => {
  const text = "text: 'Check {id}'"
  const id = 'arguments: [{name: id, description: an id}]'
  const cases: readonly (readonly [lines: readonly string[], problem: string])[] = [
    [
      ['name: Check it', ...head.slice(1), 'text: x'],
      '3:3: prompts.0.name: must be 1 to 64 of a-z, 0-9 and "_", a letter first, got "Check it".',
    ],
    [[...head, 'text: x', 'txt: y'], '8:3: prompts.0.txt: unknown key. Did you mean "text"?'],
    [
      [...head.slice(0, 3), 'datasets: [thing]', 'text: x'],
      '6:14: prompts.0.datasets.0: there is no dataset "thing". Did you mean "things"?',
    ],
    [
      [...head.slice(0, 3), 'datasets: things', 'text: x'],
      '6:3: prompts.0.datasets: must be a list of dataset names, got "things".',
    ],
    [
      [...head, id, "text: '{id} {idd}'"],
      '8:3: prompts.0.text: {idd} is not an argument. Did you mean "id"?',
    ],
    [[...head, id, 'text: Check'], '7:15: prompts.0.arguments.0: the text does not use {id}.'],
    [
      [...head, 'arguments: [{name: id, description: a}, {name: id, description: b}]', text],
      '7:44: prompts.0.arguments.1.name: an earlier argument has the name "id": give each its own.',
    ],
    [
      [...head, "arguments: [{name: id, description: an id, pattern: '[0-9'}]", text],
      '7:46: prompts.0.arguments.0.pattern: is not a regular expression (Invalid regular expression: /[0-9/u: Unterminated character class).',
    ],
    [
      [...head, 'arguments: [{name: id, description: an id, requird: true}]', text],
      '7:46: prompts.0.arguments.0.requird: unknown key. Did you mean "required"?',
    ],
  ]
  for (const [lines, problem] of cases) t.same(problemsOf(...lines), [`registry.yaml:${problem}`])
  t.same(problemsOf(...head, 'text: x\n- name: check', ...head.slice(1), 'text: y'), [
    'registry.yaml:8:3: prompts.1.name: an earlier prompt has the name "check": give each its own.',
  ])
  t.end()
})
