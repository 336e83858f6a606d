import type { Kept } from '@secondwind/service'
import type { Call } from '../command.ts'
import { Failure } from '../failure.ts'
import { retyped, typed } from '../input/typed.ts'
import { asTypedHere } from './program-name.ts'
import { SETTING_OPTIONS } from './settings.ts'

/** What became of what the service kept; throws where some of it may not be found again. */
export function sayKept(kept: Kept, { options }: Pick<Call, 'options'>): string {
  switch (kept.kind) {
    case 'all':
      return 'nothing is lost'
    case 'nothing':
      return `what was in memory is gone, ${sayUnfinished(kept.unfinished)}`
    case 'in-doubt':
      throw new Failure({
        code: kept.code,
        what: 'the service has stopped, and some of what it kept may be lost',
        because: [kept.problem],
        so: 'What was accepted is not known to be kept: look at the data before the service is started again.',
        next: [asTypedHere(typed(['doctor', ...retyped(options, SETTING_OPTIONS)]))],
      })
  }
}

function sayUnfinished(tasks: number): string {
  if (tasks === 0) return 'and no task had been left unfinished'
  return tasks === 1 ? 'and with it 1 unfinished task' : `and with it ${tasks.toLocaleString('en')} unfinished tasks`
}
