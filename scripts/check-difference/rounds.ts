import type { Random } from '../harness/random.js'

/** Of each subject, before any is counted: the server's code is then compiled. */
const warmUpRounds = 300

/** What is asked for: one of several subjects, in a round; the time in milliseconds. */
type Ask<Subject extends string> = (subject: Subject, round: number) => Promise<number>

/** Asks for each subject once a round, each round in another order; the times in milliseconds. */
export async function measureRounds<Subject extends string>(
  subjects: readonly Subject[],
  ask: Ask<Subject>,
  { rounds, random }: { readonly rounds: number; readonly random: Random },
): Promise<ReadonlyMap<Subject, readonly number[]>> {
  const times = new Map<Subject, number[]>(subjects.map((each) => [each, []]))
  for (let round = -warmUpRounds; round < rounds; round++) {
    const left = [...subjects]
    while (left.length > 0) {
      const subject = random.oneOf(left)
      left.splice(left.indexOf(subject), 1)
      const ms = await ask(subject, round + warmUpRounds)
      if (round >= 0) times.get(subject)?.push(ms)
    }
  }
  return times
}
