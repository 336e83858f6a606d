import { systemClock } from '@secondwind/resilience'

export const HOME = 'https://eu.pay.example'
export const ABROAD = 'https://us.pay.example'

/** What a request meets: an answer as it should be, a status, silence, or a charge whose answer gets lost. */
export type Weather = 'fine' | 'hang' | 'answer-lost' | number

export interface ProviderCall {
  readonly region: string
  readonly key: string | null
  readonly status: number | 'hang' | 'answer-lost'
  readonly at: number
}

const WORK_MS = 200
const RECORD_MS = 86_400_000
const LOCK_MS = 60_000
const UNDER_WAY = { 'retry-after': '1' }

type KeyRecord =
  | { readonly kind: 'locked'; readonly at: number }
  | { readonly kind: 'done'; readonly at: number; readonly body: string }

/**
 * A provider of two regions with one book. A key is locked while its charge is under way (409), and its answer is kept for
 * a day; forecasts are eaten up request by request, then `climate` rules.
 */
export class PaymentsProvider {
  readonly calls: ProviderCall[] = []
  /** Charges that were really made. */
  charged = 0
  readonly climate: { [region: string]: Weather } = { [HOME]: 'fine', [ABROAD]: 'fine' }
  readonly #forecast: { readonly [region: string]: Weather[] } = { [HOME]: [], [ABROAD]: [] }
  readonly #records = new Map<string, KeyRecord>()

  expect(region: string, ...weather: readonly Weather[]): void {
    this.#forecast[region]!.push(...weather)
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const region = new URL(url).origin
    const weather = this.#forecast[region]!.shift() ?? this.climate[region]!
    const request = new Request(url, { ...init, signal: null })
    const signal = init.signal ?? undefined
    const call = { region, key: request.headers.get('idempotency-key'), at: systemClock.monotonic() }
    if (weather === 'hang') {
      this.calls.push({ ...call, status: 'hang' })
      await systemClock.sleep(3_600_000, signal)
    }
    if (typeof weather === 'number') {
      this.calls.push({ ...call, status: weather })
      await systemClock.sleep(WORK_MS, signal)
      return new Response(null, { status: weather })
    }
    const response = call.key === null ? await this.#read(url, signal) : await this.#charge(call.key, request)
    this.calls.push({ ...call, status: weather === 'fine' ? response.status : weather })
    if (weather === 'answer-lost') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
    return response
  }

  async #read(url: string, signal: AbortSignal | undefined): Promise<Response> {
    await systemClock.sleep(WORK_MS, signal)
    const record = this.#records.get(new URL(url).pathname.split('/').at(-1)!)
    return record?.kind === 'done' ? new Response(record.body) : new Response(null, { status: 404 })
  }

  /** Goes on though its client hangs up, as servers do. */
  async #charge(key: string, request: Request): Promise<Response> {
    const record = this.#records.get(key)
    const ageMs = record === undefined ? Infinity : systemClock.now() - record.at
    if (record?.kind === 'locked' && ageMs < LOCK_MS) return new Response(null, { status: 409, headers: UNDER_WAY })
    if (record?.kind === 'done' && ageMs < RECORD_MS) return new Response(record.body)
    this.#records.set(key, { kind: 'locked', at: systemClock.now() })
    const { cents } = (await request.json()) as { cents: number }
    await systemClock.sleep(WORK_MS)
    const body = JSON.stringify({ number: ++this.charged, cents })
    this.#records.set(key, { kind: 'done', at: systemClock.now(), body })
    return new Response(body, { status: 201 })
  }
}
