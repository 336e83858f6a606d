/** Several callers that submit tasks, each with a key of its own, until the service has accepted them. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@secondwind/resilience'
import { ask, type Answered } from './ask.ts'
import type { Ledger } from './ledger.ts'
import type { Lives } from './lives.ts'
import { keyOf, orderOf } from './orders.ts'

interface CallersOptions {
  readonly ledger: Ledger
  readonly lives: Lives
  readonly random: Random
  readonly seed: number
  readonly taskCount: number
  readonly sinkUrls: readonly string[]
}

const SINGLE_CALLERS = 6
const BATCH_CALLERS = 2
const MOST_IN_BATCH = 20
/** Accepted tasks that have not ended: enough to keep the dispatcher busy, few enough to end within a life. */
const MOST_UNSETTLED = 500
/** So often a caller submits an accepted task once more, as one that forgot. */
const REPEAT_SHARE = 0.05
const PAUSE_MS = 5
const AFTER_REFUSAL_MS = 100

export class Callers {
  readonly #options: CallersOptions
  /** Tasks are numbered from 1 in the order in which callers take them. */
  #taken = 0

  constructor(options: CallersOptions) {
    this.#options = options
  }

  /** Resolves when all tasks are accepted. */
  async run(): Promise<void> {
    const single = Array.from({ length: SINGLE_CALLERS }, () => this.#call(submitOne, 1))
    const many = Array.from({ length: BATCH_CALLERS }, () => this.#call(submitMany, MOST_IN_BATCH))
    await Promise.all([...single, ...many])
  }

  async #call(submit: Submit, most: number): Promise<void> {
    const { random, taskCount } = this.#options
    while (this.#taken < taskCount) {
      const numbers = this.#take(1 + Math.floor(random() * most))
      if (numbers.length > 0) await this.#submit(numbers, submit)
      else await sleep(PAUSE_MS)
    }
  }

  #take(count: number): number[] {
    const { ledger, lives, random, taskCount } = this.#options
    if (ledger.unsettled.size >= MOST_UNSETTLED) return []
    if (this.#taken > 0 && random() < REPEAT_SHARE) {
      const number = 1 + Math.floor(random() * this.#taken)
      return ledger.tasks.get(this.#keyOf(number))?.taskId === undefined ? [] : [number]
    }
    const until = Math.min(this.#taken + count, lives.quota, taskCount)
    const numbers: number[] = []
    while (this.#taken < until) numbers.push(++this.#taken)
    return numbers
  }

  /** The same requests with the same keys, until each is answered with its task. */
  async #submit(numbers: readonly number[], submit: Submit): Promise<void> {
    const { ledger, lives } = this.#options
    for (let waiting = numbers; waiting.length > 0;) {
      const url = await lives.url()
      for (const number of waiting) ledger.submitted(this.#keyOf(number), Date.now())
      const orders = waiting.map(number => this.#orderOf(number))
      const results = await submit(url, orders)
      const refused = waiting.filter((number, index) => this.#note(this.#keyOf(number), results?.[index]) === 'refused')
      if (results === undefined) await sleep(PAUSE_MS)
      else if (refused.length > 0) await sleep(AFTER_REFUSAL_MS)
      waiting = results === undefined ? waiting : refused
    }
  }

  #note(key: string, result: Result | undefined): 'refused' | 'done' {
    const { ledger } = this.#options
    const at = Date.now()
    if (result === undefined) ledger.unanswered(key, at)
    else if (result.kind === 'accepted') ledger.accepted(key, result, at)
    else if (result.isForNow) ledger.refused(key, at, result.because)
    else throw new Error(`${key} was refused for good: ${result.because}`)
    return result?.kind === 'refused' ? 'refused' : 'done'
  }

  #keyOf(number: number): string {
    return keyOf(this.#options.seed, number)
  }

  #orderOf(number: number): Order {
    const { seed, sinkUrls } = this.#options
    return orderOf(seed, number, sinkUrls[number % sinkUrls.length] ?? '')
  }
}

type Order = ReturnType<typeof orderOf>

type Result =
  | { readonly kind: 'accepted'; readonly taskId: string; readonly isCreated: boolean }
  | { readonly kind: 'refused'; readonly isForNow: boolean; readonly because: string }

/** The result of each order; undefined where there was no answer. */
type Submit = (url: string, orders: readonly Order[]) => Promise<readonly Result[] | undefined>

const submitOne: Submit = async (url, [order]) => {
  const answered = await ask(`${url}/retry-tasks`, order)
  if (answered === undefined) return undefined
  if (answered.status !== 200 && answered.status !== 201) return [refusalOf(answered)]
  const { taskId } = JSON.parse(answered.text) as { taskId: string }
  return [{ kind: 'accepted', taskId, isCreated: answered.status === 201 }]
}

interface BatchItem {
  readonly result: 'created' | 'existing' | 'refused'
  readonly taskId: string
  readonly problem?: { readonly status: number }
}

const submitMany: Submit = async (url, orders) => {
  const answered = await ask(`${url}/retry-tasks/batch`, orders)
  if (answered === undefined) return undefined
  if (answered.status !== 200) return orders.map(() => refusalOf(answered))
  const { items } = JSON.parse(answered.text) as { items: readonly BatchItem[] }
  return items.map(({ result, taskId, problem }) =>
    result === 'refused'
      ? refusalOf({ status: problem?.status ?? 0, text: JSON.stringify(problem) })
      : { kind: 'accepted', taskId, isCreated: result === 'created' },
  )
}

function refusalOf({ status, text }: Answered): Result {
  return { kind: 'refused', isForNow: status === 429 || status === 503, because: `${status} ${text.slice(0, 300)}` }
}
