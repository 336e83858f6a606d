import { hash } from 'node:crypto'
import { causeText, type Death } from '../task/cause.ts'

/** 64 bits: two causes of one tenant are never taken for one. */
const CAUSE_ID_CHARACTERS = 16

/** The name under which dead letters of one cause are counted, in digits that no command line takes for an option. */
export function causeIdOf(death: Death): string {
  return hash('sha256', causeText(death), 'hex').slice(0, CAUSE_ID_CHARACTERS)
}
