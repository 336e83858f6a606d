import { engine } from './engine.ts'
import { firstAttempt, policyLiteral, signalRead } from './first-attempt.ts'
import { oneFailure } from './one-failure.ts'
import {
  hedgedRead,
  limitedCall,
  pipelineMemory,
  pipelineReadsSignal,
  pipelineSignal,
  pipelineSuccess,
  throttledCall,
} from './pipeline.ts'
import { waitingEnds, waitingMemory } from './waiting.ts'
import type { LibraryWork } from './work.ts'

export const WORKS: readonly LibraryWork[] = [
  firstAttempt,
  policyLiteral,
  signalRead,
  oneFailure,
  waitingMemory,
  waitingEnds,
  engine,
  pipelineSuccess,
  pipelineSignal,
  pipelineReadsSignal,
  pipelineMemory,
  hedgedRead,
  limitedCall,
  throttledCall,
]
