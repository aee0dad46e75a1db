import type { ServiceError } from '../errors.js'
import { asServiceError, badRequest, isFault } from '../errors.js'
import { exactJsonText, firstInexact, requireExactNumbers } from '../query/exact-json.js'
import { questionLists, rawQuestion, readForms } from '../query/parse-json.js'
import { shapeReader } from '../query/read-shape.js'
import { repeatedKey, requireSingleKeys } from '../query/scan-json.js'
import { rawSummary, summaryLists } from '../query/summary/parse-summary.js'
import { rawChanges } from '../query/parse-changes.js'
import { rawFind } from '../query/parse-find.js'
import { rawTop } from '../query/parse-top.js'
import { recordOf } from '../registry/shape.js'
import { memberText } from '../row-texts.js'
import type { Caller, Service } from '../service.js'
import { correctedCall } from './corrected-call.js'
import { changesAnswer, changesRoom, versionsAnswer } from './changes-answer.js'
import { describeAnswer } from './describe-answer.js'
import { fetchEntity, searchEntities } from './entity-text.js'
import { inMcpWords } from './error-words.js'
import { joinsOf } from './joins.js'
import {
  answerRoom,
  findAnswer,
  groupsAnswer,
  groupsRoom,
  queryAnswer,
  topAnswer,
} from './query-answer.js'
import {
  AggregateArguments,
  ChangesArguments,
  DescribeArguments,
  FetchArguments,
  FindArguments,
  ListArguments,
  QueryArguments,
  SearchArguments,
  TopArguments,
  usualLimit,
} from './tools.js'
import type { ToolName } from './tools.js'

/** The caller, and the request's body as received: its numbers are checked as written. */
export interface Call {
  readonly caller: Caller
  readonly bodyText: string
  /** The address of the portal. */
  readonly site: string
}

/** A tool's result in the protocol; an error has no structured content. */
export interface ToolResult {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: true
}

type Arguments = Readonly<Record<string, unknown>>

/** Agents read the whole error. */
const errorLettersMax = 1000

/** The arguments of each tool that are lists. */
const argumentLists: Readonly<Record<ToolName, readonly string[]>> = {
  list_resources: [],
  describe_resource: ['columns'],
  query: questionLists,
  aggregate: summaryLists,
  top: questionLists,
  find: [],
  changes: questionLists,
  search: [],
  fetch: [],
}

const readList = shapeReader(ListArguments, 'the arguments')
const readDescribe = shapeReader(DescribeArguments, 'the arguments')
const readQuery = shapeReader(QueryArguments, 'the arguments', 'rows')
const readAggregate = shapeReader(AggregateArguments, 'the arguments', 'aggregate')
const readFind = shapeReader(FindArguments, 'the arguments')
const readSearch = shapeReader(SearchArguments, 'the arguments')
const readFetch = shapeReader(FetchArguments, 'the arguments')
const readChanges = shapeReader(ChangesArguments, 'the arguments', 'rows')
const readTop = shapeReader(TopArguments, 'the arguments', 'top')

/**
 * Runs one tool. A caller's mistake, a used-up quota and a slow query are results that an agent can
 * read and correct; faults that the operator must fix also go to `logFault`.
 */
export async function callTool(
  service: Service,
  name: ToolName,
  args: unknown,
  call: Call,
  logFault: (error: ServiceError) => void,
): Promise<ToolResult> {
  const { caller, bodyText } = call
  let given = args
  try {
    requireExactArguments(bodyText)
    given = readForms(args, argumentLists[name])
    const text = exactJsonText(await run(service, call, name, given))
    return {
      content: [{ type: 'text', text }],
      structuredContent: { ...recordOf(JSON.parse(text)) },
    }
  } catch (cause) {
    caller.context.signal.throwIfAborted()
    const error = asServiceError(cause)
    caller.context.observe?.({ kind: 'refusal', code: error.code })
    if (isFault(error)) logFault(error)
    const check = (args: unknown) => run(service, call, name, args, true)
    const corrected = await correctedCall(name, recordOf(given), error, check)
    return {
      content: [{ type: 'text', text: errorText(error, corrected, name, recordOf(given)) }],
      isError: true,
    }
  }
}

/** Answers a call; `checkOnly` makes every check, but reads and charges nothing. */
async function run(
  service: Service,
  { caller, site }: Call,
  name: ToolName,
  args: unknown,
  checkOnly = false,
): Promise<object> {
  switch (name) {
    case 'list_resources':
      readList(args)
      return { resources: await service.listDatasets(caller) }
    case 'describe_resource': {
      const { resource, ...asked } = readDescribe(args)
      const joins = joinsOf(caller, resource)
      return describeAnswer(await service.guideDataset(caller, resource), asked, joins)
    }
    case 'query': {
      const { resource, explain = true, ...question } = readQuery(args)
      const page = await service.readPage(caller, {
        dataset: resource,
        question: () => rawQuestion(question),
        usualLimit,
        room: answerRoom,
        explainEmpty: explain ? 'paid' : 'free',
        checkOnly,
      })
      return page.kind === 'page' ? queryAnswer(page) : page
    }
    case 'aggregate': {
      const { resource, ...summary } = readAggregate(args)
      const answer = await service.summarize(caller, {
        dataset: resource,
        question: () => rawSummary(summary),
        room: groupsRoom,
        checkOnly,
      })
      return answer.kind === 'groups' ? groupsAnswer(answer) : answer
    }
    case 'find':
      return runFind(service, caller, args, checkOnly)
    case 'changes':
      return runChanges(service, caller, args, checkOnly)
    case 'search':
      return searchEntities(service, caller, readSearch(args).query, site, checkOnly)
    case 'fetch':
      return fetchEntity(service, caller, readFetch(args).id, site, checkOnly)
    case 'top': {
      const { resource, ...top } = readTop(args)
      const page = await service.top(caller, {
        dataset: resource,
        question: () => rawTop(top),
        usualLimit,
        room: answerRoom,
        explainEmpty: 'free',
        checkOnly,
      })
      return page.kind === 'page' ? topAnswer(page) : page
    }
  }
}

async function runFind(
  service: Service,
  caller: Caller,
  args: unknown,
  checkOnly: boolean,
): Promise<object> {
  const { q } = recordOf(args)
  // A key of digits, without its quotes.
  const given = Number.isSafeInteger(q) ? { ...recordOf(args), q: String(q) } : args
  const { resource = null, ...asked } = readFind(given)
  return findAnswer(await service.find(caller, resource, rawFind(asked), checkOnly))
}

async function runChanges(
  service: Service,
  caller: Caller,
  args: unknown,
  checkOnly: boolean,
): Promise<object> {
  const { resource, ...asked } = readChanges(args)
  if (asked.since === undefined && asked.cursor === undefined) {
    if ([...(asked.filters ?? []), ...(asked.select ?? [])].length > 0) {
      throw badRequest('since is missing: without it, changes lists the versions, unfiltered.')
    }
    return versionsAnswer(await service.listVersions(caller, resource))
  }
  const page = await service.changes(caller, {
    dataset: resource,
    question: () => rawChanges(asked),
    usualLimit,
    room: changesRoom,
    checkOnly,
  })
  return page.kind === 'page' ? changesAnswer(page) : page
}

/** The rest of the message, such as its id, is not checked. */
function requireExactArguments(bodyText: string): void {
  const mayBeLost = /__proto__|\\u/.test(bodyText)
  const isExact = firstInexact(bodyText) === undefined && repeatedKey(bodyText) === undefined
  if (isExact && !mayBeLost) return
  const text = memberText(memberText(bodyText, 'params'), 'arguments')
  requireExactNumbers(text)
  requireSingleKeys(text, 'The arguments')
  // What reads messages leaves it out.
  const isLost = text !== '' && Object.hasOwn(recordOf(JSON.parse(text)), '__proto__')
  if (isLost) throw badRequest('__proto__: unknown key.')
}

function errorText(
  error: ServiceError,
  call: string | null,
  tool: ToolName,
  args: Arguments,
): string {
  const text = inMcpWords(`${error.code}: ${error.detail}`).slice(0, errorLettersMax)
  const advice = call ?? adviceFor(error, tool, args)
  return advice === null ? text : `${text}\n${advice}`
}

/** What to call next, where there is no corrected call. */
function adviceFor(error: ServiceError, tool: ToolName, args: Arguments): string | null {
  if (tool === 'fetch' && error.code === 'not_found') return null
  if (error.code === 'not_found') {
    const other = tool === 'aggregate' ? ', or query for rows' : ''
    return `Call list_resources {} for the names${other}.`
  }
  if (error.retryAfterSeconds !== undefined) return `Try again in ${error.retryAfterSeconds} s.`
  if (error.code !== 'bad_request') return null
  const { resource } = args
  if (['list_resources', 'search', 'find'].includes(tool)) return null
  if (typeof resource !== 'string') return 'Call list_resources {} for the names.'
  const described = JSON.stringify({ resource: resource.slice(0, 64) })
  return `Call describe_resource ${described} for columns, operators and examples.`
}
