import { answersInMemory } from '../../../lists/answers.js'
import { askKeys } from '../../../lists/ask-keys.js'
import { finishList } from '../../../lists/finish-list.js'
import type { FinishedList } from '../../../lists/finish-list.js'
import { plainKey } from '../../../lists/judge-key.js'
import { textOfJson } from '../../../row-texts.js'
import { button, element } from '../element.js'
import { saveAs } from '../question/take-away.js'
import { askWith, sayProblem } from './ask-list.js'
import type { CheckedList } from './check-view.js'
import type { ListDataset } from './list-form.js'
import { say } from './list-say.js'

/** Asks for a checked list, with progress and a way to stop and go on, and offers the new file. */
export function runView(
  dataset: ListDataset,
  checked: CheckedList,
  busy: (isBusy: boolean) => void,
): HTMLElement {
  const { list, read, judge, question } = checked
  const { facts, name, keyColumn, token } = dataset
  const keys = [...read.keys]
  const places = new Map(keys.map((key, at) => [key, at]))
  const answers = answersInMemory((json) => plainKey(keyColumn.type, textOfJson(json)))
  let [keysDone, isDone, isSaved] = [0, false, true]
  let stopper = new AbortController()
  const status = element('p', { role: 'status', class: 'status' })
  const progress = element('progress', { max: Math.max(1, keys.length), 'aria-label': say.run })
  const download = element('p')
  const isUnfinished = (key: string) => {
    if (isDone) return false
    if (question.match === 'newest') return answers.count(key) === 0
    return (places.get(key) ?? 0) >= keysDone
  }
  const tell = (done: number) => {
    keysDone = done
    progress.value = done
    status.textContent = say.found(done, keys.length)
  }
  const offer = async () => {
    const parts: Uint8Array<ArrayBuffer>[] = []
    const save = (bytes: Uint8Array) => parts.push(bytes.slice())
    const found = { ...question, facts, answers }
    const finished = await finishList(list, read, judge, found, save, isUnfinished)
    const file = list.file.replace(/(?=\.\w+$)/, `-${name}`)
    const take = button(say.download(file), () => {
      saveAs(file, new Blob(parts))
      isSaved = true
    })
    download.replaceChildren(take)
    return finished
  }
  const run = async () => {
    stopper = new AbortController()
    const { signal } = stopper
    setRunning(true)
    answers.again()
    status.classList.remove('error')
    tell(keysDone)
    const ask = askWith(token, signal, (seconds) => (status.textContent = say.waiting(seconds)))
    try {
      await askKeys(question, keys, facts.limit.max, answers, ask, tell)
      isDone = true
      const finished = await offer()
      status.textContent = doneText(finished, answers.charged, answers.versions.size)
      status.append(...notesOf(finished))
    } catch (cause) {
      if (signal.aborted) status.textContent = say.stopped(answers.charged)
      else sayProblem(status, cause)
      const { unfinished } = await offer()
      status.append(' ', say.unfinished(unfinished))
    }
    isSaved = answers.charged === 0
    setRunning(false)
  }
  const start = button(say.run, run, { class: 'primary' })
  const stop = button(say.stop, () => stopper.abort())
  const setRunning = (isRunning: boolean) => {
    busy(isRunning)
    start.textContent = say.goOn
    start.hidden = isRunning || isDone
    stop.hidden = !isRunning
    progress.hidden = !isRunning
    if (isRunning) download.replaceChildren()
    const next = isRunning ? stop : (download.querySelector('button') ?? start)
    next.focus()
  }
  stop.hidden = true
  progress.hidden = true
  window.addEventListener('beforeunload', (event) => {
    // What was paid is in the memory of the page only.
    if (!isSaved) event.preventDefault()
  })
  const buttons = element('p', { class: 'line' }, start, stop, progress)
  return element('div', {}, buttons, status, download)
}

function doneText(
  { found, notFound, malformed, spare }: FinishedList,
  cost: number,
  versions: number,
) {
  return [
    say.done(found, notFound, malformed, cost),
    ...(versions > 1 ? [say.changed] : []),
    ...(spare > 0 ? [say.spare(spare)] : []),
  ].join(' ')
}

function notesOf({ notes }: FinishedList): readonly HTMLElement[] {
  return notes.map((note) => element('span', { lang: 'en', class: 'detail' }, note))
}
