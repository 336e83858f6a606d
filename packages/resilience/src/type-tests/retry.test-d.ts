import { retry, createBudget, permanent, historyOf, type Attempt, type History } from '../index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_ extends true>(): void => {}

interface User {
  readonly name: string
}
declare function getUser(id: number, options: { signal: AbortSignal }): Promise<User>

// The callback's result is the result, awaited; nothing is to be annotated.
const user = retry(({ signal }) => getUser(1, { signal }))
holds<Same<typeof user, Promise<User>>>()
const count = retry(() => 3)
holds<Same<typeof count, Promise<number>>>()
const nothing = retry(async () => {})
holds<Same<typeof nothing, Promise<void>>>()

// What the hook puts in the place of an error is part of the result.
const handedOver = retry(
  () => getUser(1, { signal: AbortSignal.abort() }),
  {},
  { onExhausted: () => ({ taskId: 'a' }) },
)
holds<Same<typeof handedOver, Promise<User | { taskId: string }>>>()

// The attempt is typed.
void retry((attempt: Attempt) => attempt.attempt + attempt.remainingMs + attempt.idempotencyKey.length)

// Marks keep the type of the error.
class OutOfStock extends Error {
  readonly sku: string = 'a'
}
holds<Same<ReturnType<typeof permanent<OutOfStock>>['sku'], string>>()
holds<Same<ReturnType<typeof historyOf>, History | undefined>>()

// A value is judged by the words for errors, or by nothing.
void retry(() => 202, {}, { classifyResult: status => (status === 202 ? 'transient' : undefined) })
// @ts-expect-error no such fault
void retry(() => 202, {}, { classifyResult: () => 'retry' })

// A budget is asked for, or switched off.
void retry(() => 1, {}, { budget: createBudget() })
void retry(() => 1, {}, { budget: false })
// @ts-expect-error a policy is not a budget
void retry(() => 1, {}, { budget: { kind: 'rate', perSecond: 1, burst: 1 } })
// @ts-expect-error the signal goes into the options, not into the policy
void retry(() => 1, { signal: AbortSignal.abort() })
