import type { Command } from 'commander'
import { readRegistry } from '../catalog.js'
import type { Config } from '../config.js'
import { findKey } from '../control/keys.js'
import { explainAnswer } from '../service/explain.js'
import type { Explanation } from '../service/explain.js'
import { readQuestionPath } from '../service/question-path.js'
import type { QuestionPath } from '../service/question-path.js'
import { addPrinted, readSettings } from './command.js'
import type { Flags, Result } from './command.js'
import { commandObjects } from './progress.js'
import type { CliParts } from './parts.js'
import { readFilledStore } from './state.js'

const stageWidth = 'question'.length

/** `das explain`: why a subscriber gets this answer. */
export function addExplain(program: Command, parts: CliParts): void {
  addPrinted(program, parts, {
    usage: 'explain <subscription> <url>',
    description:
      'Show stage by stage how a request would be answered now: token, rate, dataset, question, ' +
      'quota, rows, charge. Nothing is charged.',
    settings: ['registry', 'state', 'memoryLimit'],
    json:
      'print {stages: [{stage, verdict, detail}], ' +
      'answer: {status, error, detail, rows, has_more}}',
    examples: [
      "das explain sub_0123456789abcdef '/v1/financials?inn=eq.7708004767&year=gte.2020'",
      "das explain sub_0123456789abcdef '/v1/financials/aggregate?group=year&measures=count'",
      "das explain sub_0123456789abcdef '/v1/financials/top?by=-2400&year=eq.2024&limit=10'",
    ],
    run: (config, flags, id: string, url: string) => explain(parts, config, flags, id, url),
  })
}

async function explain(
  parts: CliParts,
  config: Pick<Config, 'registry' | 'state' | 'memoryLimit'>,
  flags: Flags,
  id: string,
  url: string,
): Promise<Result> {
  const registry = await readRegistry(config.registry)
  const path = readQuestionPath(url)
  const trino = readSettings(['trinoUser', 'trinoPassword'], {}, parts.environment)
  const explanation = await readFilledStore(parts, config.state, async (control) => {
    const reader = await parts.openReader(registry, path.dataset, config.memoryLimit, {
      trino,
      objects: commandObjects(parts, config.state, flags.json === true),
      clock: parts.clock,
    })
    try {
      // Before a server made the key, no cursor is valid, so a random key refuses them all.
      const cursorKey =
        (await findKey(control, config.state, 'cursor.key')) ?? control.random.bytes(32)
      return await explainAnswer({ ...reader, control, cursorKey, clock: parts.clock }, id, path)
    } finally {
      await reader.close()
    }
  })
  return { json: explanationJson(explanation), lines: explanationLines(explanation, path.kind) }
}

function explanationJson({ stages, answer: { hasMore, ...answer } }: Explanation) {
  return { stages, answer: { ...answer, has_more: hasMore } }
}

function explanationLines(
  { stages, answer }: Explanation,
  kind: QuestionPath['kind'],
): readonly string[] {
  const { status, error, detail, rows, hasMore } = answer
  const more = kind === 'rows' ? ' and a next_cursor' : '; more are left out'
  const charged = kind === 'aggregate' ? ' charged' : ''
  const page = `${rows === 1 ? '1 row' : `${rows} rows`}${charged}${hasMore ? more : ''}`
  return [
    ...stages.map(
      ({ stage, verdict, detail: text }) =>
        `${verdict === 'passed' ? '✓' : '✗'} ${stage.padEnd(stageWidth)}  ${text}`,
    ),
    '',
    error === null ? `${status}: ${page}` : `${status} ${error}: ${detail}`,
  ]
}
