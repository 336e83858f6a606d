import { check } from '@secondwind/resilience/rules'
import type { Call, Caller } from './caller.ts'
import { DESTINATION, refuse } from './check/fields.ts'
import { listing, type Listing } from './listing.ts'
import type { Cause, DeadLetterFilter } from './wire/dead-letter.ts'
import type { Page } from './wire/page.ts'
import type { RetryTask } from './wire/task.ts'

/** `/dead-letters`: `EXHAUSTED` tasks. */
export interface DeadLetters {
  /** What they died of, the most numerous first. */
  groups(filter?: Pick<DeadLetterFilter, 'destination'>, call?: Call): Listing<Cause>
  /** Which they are, the newest first. */
  list(filter?: DeadLetterFilter, call?: Call): Listing<RetryTask>
}

const PATH = '/dead-letters'

export function deadLettersOf(caller: Caller): DeadLetters {
  const read = <Item>(group: 'cause' | 'none', filter: object, { signal }: Call): Listing<Item> =>
    listing(page =>
      caller.ask<Page<Item>>({
        method: 'GET',
        mark: 'items',
        path: PATH,
        query: { group, ...filter, ...page },
        signal,
      }),
    )
  return {
    groups(filter = {}, call = {}) {
      refuse('dead letters cannot be grouped', check.checkFields(filter, { destination: FIELDS.destination }))
      return read<Cause>('cause', filter, call)
    },
    list(filter = {}, call = {}) {
      refuse('dead letters cannot be listed', check.checkFields(filter, FIELDS))
      return read<RetryTask>('none', filter, call)
    },
  }
}

const FIELDS: { readonly [field in keyof DeadLetterFilter]-?: check.FieldCheck } = {
  causeId: check.text(200),
  destination: DESTINATION,
}
