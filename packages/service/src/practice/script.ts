/**
 * What a practice endpoint does, call by call, as its path says: `503x2` fails twice, `reset,slow2000` drops one
 * connection and then takes two seconds. After the last step it answers 200 for ever.
 */
export type Step =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'reset' }

export type ReadScript = { readonly steps: readonly Step[] } | { readonly must: string }

const MOST_STEPS = 1_000
/** Longer than any attempt may last. */
const SLOWEST_MS = 600_000

const STEP =
  /^(?:(?<status>[2-5]\d\d)(?:after(?<after>\d{1,5}))?|slow(?<ms>\d{1,6})|(?<reset>reset))(?:x(?<times>\d{1,4}))?$/

export function readScript(text: string): ReadScript {
  const steps: Step[] = []
  for (const word of text.split(',')) {
    const groups = STEP.exec(word)?.groups
    const step = groups && stepOf(groups)
    const times = Number(groups?.['times'] ?? 1)
    if (step === undefined || steps.length + times > MOST_STEPS)
      return { must: 'steps such as 503x2, 429after3, slow2000 or reset, with commas between them' }
    steps.push(...Array<Step>(times).fill(step))
  }
  return { steps }
}

function stepOf({ status, after, ms }: { readonly [name: string]: string | undefined }): Step | undefined {
  if (status !== undefined)
    return { kind: 'status', status: Number(status), ...(after !== undefined && { retryAfterSeconds: Number(after) }) }
  if (ms === undefined) return { kind: 'reset' }
  return Number(ms) <= SLOWEST_MS ? { kind: 'slow', ms: Number(ms) } : undefined
}
