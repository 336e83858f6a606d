import type { GivenOptions } from '../command.ts'
import { usageFailure } from '../failure.ts'
import { flagOf } from '../input/read-options.ts'
import { readsInput, typed } from '../input/typed.ts'

/** What an answer can be printed as, besides what it is where nothing is said. */
const FORMS = ['json', 'ndjson', 'csv', 'ids']

/** Whoever asks for two is not given one of them: what reads it may be waiting for the other. */
export function refuseTwoForms(options: GivenOptions, words: readonly string[]): void {
  const flags = FORMS.filter(form => options[form] === true).map(flagOf)
  if (flags.length < 2) return
  throw usageFailure({
    code: 'wrong-option',
    what: `${flags.join(' and ')} ask for different forms`,
    because: ['An answer is printed once, and in one form.'],
    // What was read from stdin is not there any more.
    next: readsInput(words) ? [] : flags.map(one => typed(words.filter(word => word === one || !flags.includes(word)))),
  })
}
