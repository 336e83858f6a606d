import type { Option } from '../command.ts'
import { usageFailure } from '../failure.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { typed } from './typed.ts'

export const YES_OPTION: Option = { flag: '--yes', say: 'do it without asking' }

interface Question {
  /** What will be done, to be said yes to: "cancel it". */
  readonly ask: string
  /** What it will touch, for people; it is shown before anything is asked. */
  readonly shows: string
  /** What must be typed for a yes, where that should not become a habit. */
  readonly word?: string
}

/** Shows what will be touched, and goes on only after a yes: silence never is one. */
export async function confirm(
  { options, words, terminal }: Pick<RemoteCall, 'options' | 'words' | 'terminal'>,
  { ask: question, shows, word }: Question,
): Promise<void> {
  const { ask, tell } = terminal
  if (options['json'] !== true) tell(`${shows}\n`)
  if (options['yes'] === true) return
  if (ask === undefined)
    throw usageFailure({
      code: 'cannot-ask',
      what: `to ${question} needs a yes`,
      because: ['stdin is not a terminal, so the question cannot be asked.'],
      next: [typed([...words, YES_OPTION.flag])],
    })
  const answer = (await ask(`${question}? (${word === undefined ? 'yes/no' : `type ${word}`}) `)).trim().toLowerCase()
  if (word === undefined ? ['yes', 'y'].includes(answer) : answer === word) return
  const given = answer === '' ? 'There was no answer' : `The answer was ${JSON.stringify(answer.slice(0, 20))}`
  throw usageFailure({
    code: 'not-confirmed',
    what: `to ${question} needs ${word === undefined ? 'a yes' : `the word ${word}, typed in full`}`,
    because: [`${given}.`],
    // As it was typed: it asks again. Whoever has just said no is not told how to do it unasked.
    next: [typed(words)],
  })
}
