/** F: a whole pipeline around the call, and single layers of it. */
import type { Action, Calls, SignalAction } from '../contenders/contender.ts'
import { nsPerCall } from './sequential-calls.ts'
import { bytesPerWaiting } from './waiting.ts'
import type { LibraryWork } from './work.ts'

const NS_PER_CALL = { key: 'nsPerCall', label: 'CPU ns per call' }

const succeed: Action = async () => 1
const succeedUnlessAborted: SignalAction = async ({ signal }) => (signal.aborted ? 0 : 1)

export const pipelineSuccess: LibraryWork = {
  id: 'F1',
  title: 'success through retry, breaker, attempt time-out, bulkhead and budget',
  contenders: ['secondwind', 'loop', 'cockatiel-wrap'],
  figures: [NS_PER_CALL],
  bars: [
    { figure: 'nsPerCall', sign: '≤', limit: 2.5, times: 'loop' },
    { figure: 'nsPerCall', sign: '≤', limit: 1 / 20, times: 'cockatiel-wrap' },
  ],
  run: async calls => ({ nsPerCall: await nsPerCall(calls.pipelineSucceeds!, succeed) }),
}

export const pipelineSignal: LibraryWork = {
  id: 'F2',
  title: 'the same, with a signal of the caller',
  contenders: ['secondwind', 'loop', 'cockatiel-wrap'],
  figures: [NS_PER_CALL],
  bars: [{ figure: 'nsPerCall', sign: '≤', limit: 6, times: 'loop' }],
  run: async calls => ({ nsPerCall: await nsPerCall(calls.pipelineWithSignal!, succeed) }),
}

export const pipelineReadsSignal: LibraryWork = {
  id: 'F3',
  title: 'the same as F1, the callback reads its signal',
  contenders: ['secondwind', 'loop', 'cockatiel-wrap'],
  figures: [NS_PER_CALL],
  bars: [{ figure: 'nsPerCall', sign: '≤', limit: 1 / 3, times: 'cockatiel-wrap' }],
  run: async calls => ({ nsPerCall: await nsPerCall(calls.pipelineReadsSignal!, succeedUnlessAborted) }),
}

export const pipelineMemory: LibraryWork = {
  id: 'F4',
  title: '100,000 operations of the same pipeline waiting in back-off: memory',
  contenders: ['secondwind', 'loop'],
  figures: [{ key: 'bytesPerWaiting', label: 'heap bytes per waiting operation' }],
  bars: [{ figure: 'bytesPerWaiting', sign: '≤', limit: 2, times: 'loop' }],
  run: async calls => ({ bytesPerWaiting: await bytesPerWaiting(calls, calls.pipelineWaitsLong!) }),
}

/** Without a bar: what each layer costs beside the bare call, and beside the same idea written by hand. */
function layer(id: string, title: string, call: (calls: Calls) => (action: Action) => Promise<unknown>): LibraryWork {
  return {
    id,
    title,
    contenders: ['secondwind', 'bare', 'by-hand'],
    figures: [NS_PER_CALL],
    bars: [],
    run: async calls => ({ nsPerCall: await nsPerCall(call(calls), succeed) }),
  }
}

export const hedgedRead = layer('F5', 'a hedged call that needs no company', calls => calls.hedged!)
export const limitedCall = layer('F6', 'a call under an adaptive limit', calls => calls.limited!)
export const throttledCall = layer('F7', 'a call under adaptive throttling', calls => calls.throttled!)
