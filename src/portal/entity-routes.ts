import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Language } from '../config.js'
import { mediaTypes } from '../query/page-format.js'
import { encodeForUrl } from '../query/write-url.js'
import type { Caller, Service } from '../service.js'
import {
  compareEntities,
  comparedKeys,
  comparedLines,
  comparedLinesMax,
} from '../service/compare.js'
import type { ComparedLine } from '../service/compare.js'
import { errorStatus } from '../errors.js'
import { curlCommand } from '../service/client-texts.js'
import { findEntries, linkedRowsMax, readEntity } from '../service/entity-rows.js'
import type { PageReader } from '../service/entity-rows.js'
import type { PaidAnswers } from '../service/paid/paid-answers.js'
import type { ShownDataset, Showcase } from '../service/showcase.js'
import type { Sheet } from '../sheet/sheet.js'
import { comparePage } from './compare-page.js'
import { compareSheet } from './compare-sheet.js'
import { html } from './html.js'
import { titledPage } from './titled-page.js'
import { entityPage } from './entity-page.js'
import { entitySheet } from './entity-sheet.js'
import { entityWords } from './entity-words.js'
import { foundPage, searchForm, withKeys } from './found-page.js'
import { visit } from './page-context.js'
import type { PageContext, Site } from './page-context.js'
import { comparisonParts } from './page-query.js'
import { paidLine, payingFor, pricePage } from './paying.js'
import type { Paying } from './paying.js'
import { noStore, reading, sendPage } from './send-page.js'

/** What the pages of entities read with. */
export interface EntityParts extends Pick<Service, 'find' | 'readPage' | 'top' | 'summarize'> {
  readonly asVisitor: (request: FastifyRequest, reply: FastifyReply) => Promise<Caller>
  readonly paidAnswers: PaidAnswers
  readonly writeSheet: (sheet: Sheet) => Promise<Buffer>
}

interface RouteParts {
  readonly site: Site
  readonly showcase: (language: Language) => Showcase
  readonly entities: EntityParts
}

/** A request for a page of one dataset's entities. */
interface Visit {
  readonly parts: RouteParts
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly context: PageContext
  readonly query: URLSearchParams
  readonly dataset: ShownDataset
  /** All datasets that pages may show. */
  readonly shown: readonly ShownDataset[]
}

/** Renders a page; null = not found, undefined = it is sent. */
type Answer = (visit: Visit) => Promise<string | null | undefined>

/** Adds the search for entities, and the page of each: free for demo rows, else paid by rows. */
export function addEntityPages(app: FastifyInstance, parts: RouteParts): void {
  const add = (url: string, answer: Answer) => {
    app.route({
      method: reading,
      url,
      handler: async (request, reply) => {
        const query = new URLSearchParams(request.url.split('?', 2)[1])
        const context = await visit(parts.site, request)
        const { dataset: wanted } = request.params as { readonly dataset: string }
        const { datasets: shown } = parts.showcase(context.language)
        const dataset = shown.find(({ name, entity }) => name === wanted && entity !== null)
        const visited = dataset && { parts, request, reply, context, query, dataset, shown }
        const page = visited ? await answer(visited) : null
        if (page === undefined) return reply
        if (page === null) return reply.callNotFound()
        return sendPage(request, reply, context, page, context.person === null ? {} : noStore)
      },
    })
  }
  add('/datasets/:dataset/find', found)
  add('/datasets/:dataset/compare', compare)
  add('/datasets/:dataset/:key', entity)
}

async function found(visited: Visit): Promise<string | null> {
  const { parts, request, context, query, dataset } = visited
  const say = entityWords(context.language)
  const q = query.get('q')?.trim() ?? ''
  const chosen = query.getAll('with')
  const paying = payingFor(context, request, dataset.name, q === '')
  if (paying.kind === 'ask') return pricePage(context, say.foundTitle(q), say.priceOfFind)
  if (paying.kind === 'visitor' && !dataset.hasDemo) return null
  const { service, caller } = await readerOf(visited, paying)
  const answer =
    q === ''
      ? { entries: [], charged: 0 }
      : await findEntries({ ...service, find: parts.entities.find }, caller, dataset.name, q)
  const paid = paidLine(context, paying, answer.charged)
  return foundPage(context, dataset, {
    q,
    chosen,
    kept: comparisonParts(query),
    entries: answer.entries,
    paid,
  })
}

async function entity(visited: Visit): Promise<string | null | undefined> {
  const { parts, request, context, query, dataset, shown: datasets } = visited
  const { key } = request.params as { readonly key: string }
  const isFree = dataset.entity?.demoKeys.includes(key) ?? false
  const paying = payingFor(context, request, dataset.name, isFree)
  if (paying.kind === 'ask') return pricePage(context, key, priceOf(visited))
  if (paying.kind === 'visitor' && !dataset.hasDemo) return null
  const reader = await readerOf(visited, paying)
  const shown = await readEntity(reader, dataset, key, datasets)
  if (!shown) return null
  if (query.get('format') === 'xlsx') {
    return sendSheet(visited, encodeForUrl(key), entitySheet(context, dataset, shown))
  }
  const filter = `${encodeForUrl(dataset.entity?.key ?? '')}=eq.${encodeForUrl(key)}`
  const url = `${context.base}/v1/${dataset.name}?${filter}`
  const token = paying.kind === 'visitor' ? parts.showcase('en').demoToken : null
  const charged = [shown, ...shown.links].reduce((sum, each) => sum + each.charged, 0)
  return entityPage(context, {
    dataset,
    shown,
    line: curlCommand(url, token ?? 'YOUR_TOKEN'),
    drawn: query.getAll('line'),
    paid: paidLine(context, paying, charged),
  })
}

async function compare(visited: Visit): Promise<string | null | undefined> {
  const { request, reply, context, query, dataset } = visited
  const say = entityWords(context.language)
  const keys = [...new Set(query.getAll('keys').flatMap((text) => text.split(',')))].filter(
    (key) => key !== '',
  )
  const title = say.compareTitle(keys.length)
  if (keys.length < comparedKeys.min || keys.length > comparedKeys.max) {
    void reply.code(errorStatus.bad_request)
    const more = [...withKeys(keys), ...comparisonParts(query)]
    const text = html`<p class="lead">${say.compareCount(comparedKeys.min, comparedKeys.max)}</p>`
    return titledPage(context, title, html`${text} ${searchForm(context, dataset, { kept: more })}`)
  }
  const isFree = keys.every((key) => dataset.entity?.demoKeys.includes(key))
  const paying = payingFor(context, request, dataset.name, isFree)
  if (paying.kind === 'ask') {
    const price = say.price([say.priceOfGroups(dataset.title), say.priceOfMedians])
    return pricePage(context, title, price)
  }
  if (paying.kind === 'visitor' && !dataset.hasDemo) return null
  const choices = comparedLines(dataset)
  const lines = linesOf(dataset, choices, query.getAll('line'))
  const [first] = lines
  if (!first) return null
  const reader = await readerOf(visited, paying)
  const asked = { lines, period: query.get('period') }
  const comparison = await compareEntities(reader, dataset, keys, asked)
  if (!comparison) return null
  const drawn = lines.find(({ name }) => name === query.get('chart')) ?? first
  const paid = paidLine(context, paying, comparison.charged)
  const isCut = query.getAll('line').length > comparedLinesMax
  const kept = comparisonParts(query)
  const shown = { dataset, comparison, keys, kept, lines, choices, isCut, drawn, paid }
  if (query.get('format') === 'xlsx') {
    const name = ['compare', comparison.period].filter((part) => part !== '').map(encodeForUrl)
    return sendSheet(visited, name.join('-'), compareSheet(context, shown))
  }
  return comparePage(context, shown)
}

async function sendSheet(
  { parts, reply, dataset }: Visit,
  name: string,
  sheet: Sheet,
): Promise<undefined> {
  const file = await parts.entities.writeSheet(sheet)
  await reply
    .headers(noStore)
    .header('Content-Disposition', `attachment; filename="${dataset.name}-${name}.xlsx"`)
    .type(mediaTypes.xlsx)
    .send(file)
}

/** The chosen lines; without a choice, what entities are ranked by, and the measures. */
function linesOf(
  { entity, firstColumns }: ShownDataset,
  choices: readonly ComparedLine[],
  chosen: readonly string[],
): readonly ComparedLine[] {
  // In the order of the address: the same question is paid once.
  const wanted = [...new Set(chosen)].flatMap(
    (name) => choices.find((each) => each.name === name) ?? [],
  )
  const usual = [
    ...choices.filter(({ name, isMeasure }) => !isMeasure && name === entity?.rank),
    ...choices.filter(({ isMeasure }) => isMeasure),
  ]
  const first = choices.filter(({ name }) => firstColumns.includes(name))
  const lines = [wanted, usual, first, choices].find(({ length }) => length > 0) ?? []
  return lines.slice(0, comparedLinesMax)
}

function priceOf({ context, dataset, shown }: Visit): string {
  const say = entityWords(context.language)
  const links = (dataset.entity?.links ?? []).flatMap(({ dataset: name }) => {
    const linked = shown.find((each) => each.name === name)
    return linked ? say.priceOfLinked(linked.title, linkedRowsMax) : []
  })
  return say.price([say.priceOfPeriods(dataset.title), ...links])
}

async function readerOf(
  { parts, request, reply, context: { language } }: Visit,
  paying: Extract<Paying, { kind: 'visitor' | 'payer' }>,
): Promise<PageReader> {
  const { site, entities } = parts
  const caller =
    paying.kind === 'payer'
      ? await site.signedIn.admit(request, reply, paying.payer)
      : await entities.asVisitor(request, reply)
  return { service: entities, caller, paidAnswers: entities.paidAnswers, language }
}
