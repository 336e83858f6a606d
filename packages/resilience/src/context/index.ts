/**
 * `@secondwind/resilience/context`: importing it switches it on. From then on an operation that is begun inside of
 * another's attempt, or inside of a request, has the deadline of that and makes one attempt.
 */
import { accompanyAll } from '../retry/companion.ts'
import { nesting } from './nesting.ts'

accompanyAll(nesting)

export { currentDeadline, runWithDeadline } from './surroundings.ts'
