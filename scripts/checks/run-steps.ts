import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startProgram } from '../harness/process.js'
import type { Cleanup, Run } from '../harness/script.js'
import type { Outcome, Step, StepList } from './step.js'

/** How much of a failed step's output is shown. */
const shownLinesMax = 200
const noteCharactersMax = 100
/** A step that takes longer than this is ended; a busy machine takes several times as long. */
const limitOf = ({ seconds }: Step) => 4 * seconds + 3600

/**
 * Runs steps, as many side by side as the list says, to the last one; a failure stops no other. The
 * folder gets what each of them printed.
 */
export async function runSteps(
  list: StepList,
  folder: string,
  run: Run,
): Promise<readonly Outcome[]> {
  await mkdir(folder, { recursive: true })
  const startedMs = performance.now()
  const waiting = [...list.steps]
  const running = new Map<Step, Promise<void>>()
  const outcomes: Outcome[] = []
  const resultOf = (name: string) => outcomes.find(({ step }) => step.name === name)?.result
  const say = (words: string) => run.log(`[${clockText(startedMs)}] ${words}`)
  const show = () => {
    const names = [...running.keys()].map(({ name }) => name).join(', ')
    run.update(`${outcomes.length} of ${list.steps.length} done, running: ${names}`, false)
  }
  const end = async (step: Step, outcome: Promise<Outcome>) => {
    const ended = await outcome
    running.delete(step)
    outcomes.push(ended)
    // What a stop breaks off is not a failure.
    if (run.cleanup.signal.aborted) return
    const { result, note } = ended
    if (result === 'failed') say(`${step.name} ends:\n${await endOfLog(folder, step)}`)
    say(`${step.name}: ${result} in ${secondsText(ended.seconds)}: ${note}`)
    show()
  }
  while (waiting.length > 0 || running.size > 0) {
    run.cleanup.signal.throwIfAborted()
    const next = running.size < list.atOnce ? waiting.find(isReady) : undefined
    if (next) {
      waiting.splice(waiting.indexOf(next), 1)
      const missing = (next.after ?? []).find((name) => resultOf(name) !== 'passed')
      if (missing === undefined) {
        say(`${next.name}: about ${secondsText(next.seconds)}`)
        running.set(next, end(next, runStep(next, folder, run.cleanup)))
        show()
      } else {
        const note = `${missing} did not pass`
        outcomes.push({ step: next, result: 'not run', seconds: 0, note })
        say(`${next.name}: not run: ${note}`)
      }
    } else if (running.size > 0) await Promise.race(running.values())
    else throw new Error(`${waiting.map(({ name }) => name).join()} need steps that are not there`)
  }
  return outcomes

  function isReady({ after = [], turn }: Step): boolean {
    const isFree = turn === undefined || [...running.keys()].every((other) => other.turn !== turn)
    return isFree && after.every((name) => resultOf(name) !== undefined)
  }
}

async function runStep(step: Step, folder: string, cleanup: Cleanup): Promise<Outcome> {
  const startedMs = performance.now()
  const path = join(folder, `${step.name}.log`)
  const argv = ['-c', `exec >"$0" 2>&1\n${step.line}`, path]
  const program = startProgram({ command: 'sh', argv, isGroup: true }, cleanup)
  const over = new AbortController()
  const late = sleep(limitOf(step) * 1000, 'late' as const, { signal: over.signal })
  const exit = await Promise.race([program.ended, late.catch(() => 'late' as const)])
  over.abort()
  if (exit === 'late') await program.stop()
  const seconds = (performance.now() - startedMs) / 1000
  if (exit === 0) return { step, result: 'passed', seconds, note: await lastLine(path) }
  const note = exit === 'late' ? `ended after ${secondsText(limitOf(step))}` : `exit ${exit}`
  return { step, result: 'failed', seconds, note: `${note}; ${path} has its whole output` }
}

/** What a step printed last; the lines with which npm begins, `> tsc`, are no result. */
async function lastLine(path: string): Promise<string> {
  const lines = (await readFile(path, 'utf8')).split('\n').map((line) => line.trim())
  const last = lines.findLast((line) => line !== '' && !line.startsWith('> '))
  return (last ?? 'no output').slice(0, noteCharactersMax)
}

async function endOfLog(folder: string, { name }: Step): Promise<string> {
  const lines = (await readFile(join(folder, `${name}.log`), 'utf8')).trimEnd().split('\n')
  return lines.slice(-shownLinesMax).join('\n')
}

/** Minutes and seconds since then. */
function clockText(startedMs: number): string {
  const seconds = Math.floor((performance.now() - startedMs) / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

function secondsText(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`
}
