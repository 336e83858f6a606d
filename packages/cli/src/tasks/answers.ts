/** What targets said, as far as it was captured and the key may read it. */
import { ServiceError, type Attempt, type CapturedResponse } from '@secondwind/client'
import { readItems } from '../remote/listing.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import type { Said } from '../terminal/table.ts'
import { inOneLine } from '../terminal/visible.ts'

/** More of an answer is read with `tasks attempts --json`. */
const LONGEST_ANSWER = 300

/** As many attempts of one task are looked through. */
const MOST_ATTEMPTS = 200

/** The beginning of the last answer among those attempts of a task that are asked for. */
export async function lastAnswer(
  { client }: Pick<RemoteCall, 'client'>,
  taskId: string,
  isMeant: (attempt: Attempt) => boolean = () => true,
): Promise<string | undefined> {
  try {
    const { items } = await readItems(client.tasks.attempts(taskId), MOST_ATTEMPTS)
    return items
      .filter(isMeant)
      .map(({ response }) => beginningOf(response))
      .findLast(Boolean)
  } catch (error) {
    // The task may have been forgotten since.
    if (error instanceof ServiceError && error.status === 404) return undefined
    throw error
  }
}

/** In one line, and only of text: what else there is says nothing to people. */
function beginningOf(response: CapturedResponse | undefined): string {
  if (response?.bodyEncoding !== 'utf8') return ''
  const line = inOneLine(response.body)
  return response.truncated && line.length < LONGEST_ANSWER ? `${line}…` : cut(line, LONGEST_ANSWER)
}

/** What was left out is marked. */
function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

/** So much of it stands beside all else in a terminal of 120 columns. */
const LONGEST_CELL = 40

export function answerCell(response: CapturedResponse | undefined): Said {
  const value = beginningOf(response)
  return { value, say: cut(value, LONGEST_CELL) }
}
