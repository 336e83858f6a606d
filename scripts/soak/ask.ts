/** One request to the service. */
export interface Answered {
  readonly status: number
  readonly text: string
}

/** A service that takes longer has hung. */
const LONGEST_MS = 30_000

/** Undefined where the connection ended before the answer was whole. */
export async function ask(url: string, body?: unknown): Promise<Answered | undefined> {
  const json = body !== undefined && {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  try {
    const response = await fetch(url, { ...json, signal: AbortSignal.timeout(LONGEST_MS) })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    // What `fetch` throws for a connection that broke off.
    if (error instanceof TypeError) return undefined
    throw new Error(`${url} was not answered within ${LONGEST_MS / 1_000} s`, { cause: error })
  }
}

/** Reads JSON from a service that stays alive. */
export async function read<Shape>(url: string): Promise<Shape> {
  return JSON.parse(await readText(url)) as Shape
}

export async function readText(url: string): Promise<string> {
  const answered = await ask(url)
  if (answered?.status !== 200)
    throw new Error(`GET ${url}: ${answered?.status ?? 'no answer'} ${answered?.text ?? ''}`)
  return answered.text
}
