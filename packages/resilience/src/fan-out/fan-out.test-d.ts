import { batch } from './batch.ts'
import { fanOut } from './fan-out.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_ extends true>(): void => {}

// Each leaf has its own type, in its place.
const mixed = fanOut([() => 1, async () => 'a', ({ signal }) => signal.aborted])
holds<
  Same<
    Awaited<typeof mixed>,
    [PromiseSettledResult<number>, PromiseSettledResult<string>, PromiseSettledResult<boolean>]
  >
>()
const many = fanOut([1, 2, 3].map(id => async () => `user ${id}`))
holds<Same<Awaited<typeof many>[number], PromiseSettledResult<string>>>()
// @ts-expect-error one key for all leaves would make them one call
void fanOut([() => 1], { idempotencyKey: 'a' })

// An answer is what was answered for an item.
const sent = batch(['a'], async items => Promise.allSettled(items.map(async item => item.length)))
holds<Same<Awaited<typeof sent>, PromiseSettledResult<number>[]>>()
// @ts-expect-error a call that is sent again has fewer items: it has no key
void batch(['a'], (_, { idempotencyKey }) => [{ status: 'fulfilled', value: idempotencyKey }])
