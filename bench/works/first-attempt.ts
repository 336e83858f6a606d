/** A, A2 and B: the way of almost every call, which succeeds at once. What is measured is what a retry costs that is not needed. */
import type { Action, SignalAction } from '../contenders/contender.ts'
import { nsPerCall } from './sequential-calls.ts'
import type { LibraryWork } from './work.ts'

const NS_PER_CALL = { key: 'nsPerCall', label: 'CPU ns per call' }

const succeed: Action = async () => 1
const succeedUnlessAborted: SignalAction = async ({ signal }) => (signal.aborted ? 0 : 1)

export const firstAttempt: LibraryWork = {
  id: 'A',
  title: 'success on the first attempt, defaults on',
  contenders: ['secondwind', 'loop', 'loop-abortable', 'cockatiel', 'p-retry', 'async-retry', 'effect'],
  figures: [NS_PER_CALL],
  bars: [
    { figure: 'nsPerCall', sign: '≤', limit: 1.1, times: 'loop' },
    { figure: 'nsPerCall', sign: '≤', limit: 1, times: 'cockatiel' },
  ],
  run: async calls => ({ nsPerCall: await nsPerCall(calls.succeeds!, succeed) }),
}

export const policyLiteral: LibraryWork = {
  id: 'A2',
  title: 'the same, the policy a literal in the call',
  contenders: ['secondwind', 'loop'],
  figures: [NS_PER_CALL],
  bars: [{ figure: 'nsPerCall', sign: '≤', limit: 1.3, times: 'loop', isGoal: true }],
  run: async calls => ({ nsPerCall: await nsPerCall(calls.succeedsByLiteral!, succeed) }),
}

export const signalRead: LibraryWork = {
  id: 'B',
  title: 'the same as A, the callback reads its signal',
  contenders: ['secondwind', 'loop', 'cockatiel', 'effect'],
  figures: [NS_PER_CALL],
  bars: [{ figure: 'nsPerCall', sign: '≤', limit: 1.3, times: 'loop' }],
  run: async calls => ({ nsPerCall: await nsPerCall(calls.readsSignal!, succeedUnlessAborted) }),
}
