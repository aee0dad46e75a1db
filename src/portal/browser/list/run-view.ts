import { answersInMemory } from '../../../lists/answers.js'
import { askKeys } from '../../../lists/ask-keys.js'
import type { ListQuestion } from '../../../lists/ask-keys.js'
import { finishList } from '../../../lists/finish-list.js'
import { plainKey } from '../../../lists/judge-key.js'
import type { JudgeCell } from '../../../lists/judge-key.js'
import type { ListPlan } from '../../../lists/list-plan.js'
import type { ListFile } from '../../../lists/open-list.js'
import type { ListKeys } from '../../../lists/read-keys.js'
import { textOfJson } from '../../../row-texts.js'
import { button, element } from '../element.js'
import { saveAs } from '../question/take-away.js'
import { askWith, sayProblem } from './ask-list.js'
import type { ListDataset } from './list-dataset.js'
import { say } from './list-say.js'

/** A list that was read, and how it will be asked. */
interface CheckedList {
  readonly list: ListFile
  readonly read: ListKeys
  readonly judge: JudgeCell
  readonly question: ListQuestion & ListPlan
}

/** Asks for a checked list, with progress and a way to stop and go on, and offers the new file. */
export function runView(
  { facts, name, key, token }: ListDataset,
  { list, read, judge, question }: CheckedList,
  busy: (isBusy: boolean) => void,
): HTMLElement {
  const keys = [...read.keys]
  const places = new Map(keys.map((each, at) => [each, at]))
  const answers = answersInMemory((json) => plainKey(key.type, textOfJson(json)))
  let [keysDone, isDone, isSaved] = [0, false, true]
  let stopper = new AbortController()
  const status = element('p', { role: 'status', class: 'status' })
  const progress = element('progress', { max: Math.max(1, keys.length), 'aria-label': say.run })
  const download = element('p')
  const isUnfinished = (each: string) =>
    !isDone &&
    (question.match === 'newest' ? answers.count(each) === 0 : (places.get(each) ?? 0) >= keysDone)
  const tell = (done: number) => {
    keysDone = done
    progress.value = done
    status.textContent = say.found(done, keys.length)
  }
  const offer = async () => {
    const found = { ...question, facts, answers }
    const made = await makeFile({ list, read, judge, found, isUnfinished })
    const file = list.file.replace(/(?=\.\w+$)/, `-${name}`)
    const take = button(say.download(file), () => {
      saveAs(file, made.content)
      isSaved = true
    })
    download.replaceChildren(take)
    status.append(' ', say.counts(made, answers.charged), ...made.notes)
  }
  const run = async () => {
    stopper = new AbortController()
    const { signal } = stopper
    busy(true)
    isSaved = false
    download.replaceChildren()
    controls.show(true, false)
    answers.again()
    sayProblem(status, null)
    try {
      await askKeys(question, keys, facts.limit.max, answers, askWith(token, signal, status), tell)
      isDone = true
      status.textContent = say.done
    } catch (cause) {
      if (signal.aborted) status.textContent = say.stopped
      else sayProblem(status, cause)
    }
    await offer().catch((cause: unknown) => sayProblem(status, cause))
    isSaved = answers.charged === 0
    busy(false)
    controls.show(false, isDone)
    download.querySelector('button')?.focus()
  }
  const controls = runControls(run, () => stopper.abort(), progress)
  // What was paid is in the memory of the page only: once another list is here, it is gone.
  window.onbeforeunload = (event) => (isSaved ? undefined : event.preventDefault())
  return element('div', {}, controls.node, status, download)
}

/** The buttons of a run; `show` says whether it runs, or has ended. */
function runControls(run: () => Promise<void>, end: () => void, progress: HTMLElement) {
  const start = button(say.run, run, { class: 'primary' })
  const stop = button(say.stop, end)
  stop.hidden = progress.hidden = true
  const show = (isRunning: boolean, isDone: boolean) => {
    start.textContent = say.goOn
    start.hidden = isRunning || isDone
    stop.hidden = progress.hidden = !isRunning
    if (isRunning) stop.focus()
  }
  return { node: element('p', { class: 'line' }, start, stop, progress), show }
}

type FileParts = Omit<CheckedList, 'question'> & {
  readonly found: Parameters<typeof finishList>[3]
  readonly isUnfinished: (key: string) => boolean
}

/** The list with what is known, and what is in it. */
async function makeFile({ list, read, judge, found, isUnfinished }: FileParts) {
  const parts: Uint8Array<ArrayBuffer>[] = []
  const save = (bytes: Uint8Array) => parts.push(bytes.slice())
  const { notes, ...counts } = await finishList(list, read, judge, found, save, isUnfinished)
  const texts = notes.map((note) => element('span', { lang: 'en', class: 'detail' }, note))
  return { ...counts, content: new Blob(parts), notes: texts }
}
