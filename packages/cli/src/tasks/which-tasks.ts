/** The flags that say which tasks are meant, dead or alive; all that is given must hold. */
import type { Option } from '../command.ts'
import { instant } from '../input/read-instant.ts'
import { optional, text, type Reader } from '../input/read-options.ts'

export const DESTINATION_OPTION: Option = {
  flag: '--destination <origin>',
  say: 'for this destination',
  isDestination: true,
}

export const WHICH_OPTIONS: readonly Option[] = [
  DESTINATION_OPTION,
  { flag: '--policy-id <name>', say: 'by this policy; inline: by one of their own' },
  { flag: '--error-code <code>', say: 'whose newest attempt ended like this, such as http-503' },
  { flag: '--created-from <time>', say: 'not older than 2h, or from 2026-11-16T02:00:00Z on' },
  { flag: '--created-to <time>', say: 'older than that' },
]

/** Of dead ones alone. */
export const CAUSE_OPTION: Option = { flag: '--cause-id <causeId>', say: 'that died of this, as dead causes calls it' }

interface WhichReaders {
  readonly destination: Reader<string | undefined>
  readonly policyId: Reader<string | undefined>
  readonly errorCode: Reader<string | undefined>
  readonly createdFrom: Reader<number | undefined>
  readonly createdTo: Reader<number | undefined>
}

export function whichReaders(now: number): WhichReaders {
  return {
    destination: optional(text()),
    policyId: optional(text()),
    errorCode: optional(text()),
    createdFrom: optional(instant(now, 'ago')),
    createdTo: optional(instant(now, 'ago')),
  }
}
