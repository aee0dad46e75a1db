import { element, onSubmit } from '../element.js'
import { words } from '../page-words.js'
import type { AnswerFrame } from './answer-frame.js'
import type { DatasetColumn, DefinedMeasure } from './page-column.js'
import type { FormPart } from './row-list.js'
import type { View } from './view.js'

/** What a dataset's page knows of it and of its visitor. */
export interface PageFacts {
  readonly dataset: string
  /** The column in which plans count years; empty without one. */
  readonly history: string
  readonly hasAggregates: boolean
  readonly limit: number
  readonly limitMax: number
  readonly columns: readonly DatasetColumn[]
  readonly measures: readonly DefinedMeasure[]
  readonly token: string
  /** The token if it may be shown. */
  readonly shownToken: string | null
}

/** One way to ask, with its answer. */
export interface Panel {
  readonly node: HTMLElement
  /** What it shows now. */
  readonly view: () => View
  /** Asks, if the form is filled in and no answer is awaited. */
  readonly run: () => void
}

/** Learns of every change of what a panel shows. */
export interface ViewChanges {
  /** The visitor changed the question. */
  readonly edited: (view: View) => void
  /** An answer is asked for or turned to. */
  readonly asked: (view: View) => void
  /** The visitor went on to another question, which is asked. */
  readonly opened: (view: View) => void
}

/**
 * Connects a form in one direction: every change of it makes a question, and `submitted` runs the
 * question. The button stands last, with the status beside it.
 */
export function questionForm<Question>(
  parts: readonly HTMLElement[],
  read: () => Question,
  { status }: AnswerFrame,
  changed: (question: Question) => void,
  submitted: () => void | Promise<void>,
): HTMLFormElement {
  const run = element('button', { class: 'primary' }, words.run)
  const form = element(
    'form',
    { class: 'question' },
    ...parts,
    element('p', { class: 'line' }, run, status),
  )
  form.addEventListener('input', () => changed(read()))
  onSubmit(form, submitted)
  return form
}

/** The number of rows or groups of an answer; null for a field that is not filled in. */
export function limitInput(
  id: string,
  label: string,
  { value, max }: { readonly value: number; readonly max: number },
): FormPart<number | null> {
  const hint = `${id}-range`
  const input = element('input', {
    ...{ type: 'number', min: 1, max, value, required: true },
    'aria-describedby': hint,
  })
  const node = element(
    'div',
    { class: 'line' },
    element('label', { class: 'line' }, label, input),
    element('span', { class: 'muted', id: hint }, words.limitRange(max)),
  )
  return { node, read: () => (input.value === '' ? null : Number(input.value)) }
}
