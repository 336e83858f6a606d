/**
 * Recorded instants that a scenario names by their file. The lab reads no files, so that here the list itself takes the
 * place of the name.
 */
import type { Problem } from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'

export interface Traced {
  readonly document: unknown
  /** Of the files; what else is wrong with the scenario is for its own check. */
  readonly problems: readonly Problem[]
}

/** The scenario with every `atFile` of its clients read: a path from the folder in which the scenario is. */
export async function withTraces(document: unknown, folder: string): Promise<Traced> {
  if (!check.isRecord(document) || !Array.isArray(document['clients'])) return { document, problems: [] }
  const clients: unknown[] = []
  const problems: Problem[] = []
  for (const [place, client] of (document['clients'] as unknown[]).entries()) {
    const traced = await withTrace(client, folder)
    clients.push(traced.client)
    if (traced.say !== undefined)
      problems.push({ at: `clients.${place}.arrivals.atFile`, is: traced.named, say: traced.say })
  }
  return { document: { ...document, clients }, problems }
}

interface TracedClient {
  readonly client: unknown
  readonly named?: unknown
  /** What is wrong with the file. */
  readonly say?: string
}

/** Stands for a list that could not be read, so that all else can be checked. */
const UNREAD = [0]

async function withTrace(client: unknown, folder: string): Promise<TracedClient> {
  const arrivals = check.isRecord(client) ? client['arrivals'] : undefined
  if (!check.isRecord(arrivals) || arrivals['kind'] !== 'trace' || arrivals['atFile'] === undefined) return { client }
  const { atFile: named, ...others } = arrivals
  const read = others['atMs'] === undefined ? await readTrace(named, folder) : 'cannot stand beside atMs: one of them'
  const isRead = typeof read !== 'string'
  return {
    client: { ...(client as object), arrivals: { ...others, atMs: isRead ? read : UNREAD } },
    ...(!isRead && { named, say: read }),
  }
}

/** As long as a list of the ten million instants that a scenario may have. */
const MOST_BYTES = 200_000_000

/** The instants, or what the file must be. */
async function readTrace(named: unknown, folder: string): Promise<readonly unknown[] | string> {
  if (typeof named !== 'string' || named === '') return 'must be the path of a file'
  const path = resolve(folder, named)
  try {
    const found = await stat(path)
    // What is no plain file may never end.
    if (!found.isFile()) return 'must be a plain file'
    if (found.size > MOST_BYTES) return `must be a file of at most ${MOST_BYTES / 1e6} MB`
    return instantsIn(await readFile(path, 'utf8'))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? `is no file: there is no ${path}` : `must be a file that can be read: ${message}`
  }
}

/** A JSON array, or an instant in each line. */
function instantsIn(content: string): readonly unknown[] | string {
  const text = content.replace(/^\uFEFF/, '').trim()
  if (text === '') return 'must hold an instant at least'
  return text.startsWith('[') ? arrayIn(text) : linesIn(text)
}

function arrayIn(text: string): readonly unknown[] | string {
  try {
    return JSON.parse(text) as unknown[]
  } catch (error) {
    return `must hold a JSON array, or milliseconds in each line: ${(error as Error).message}`
  }
}

function linesIn(text: string): readonly unknown[] | string {
  const instants: number[] = []
  for (const [place, line] of text.split('\n').entries()) {
    const word = line.trim()
    const instant = Number(word)
    if (!Number.isFinite(instant)) return `must hold milliseconds in each line: line ${place + 1} is ${quoted(word)}`
    if (word !== '') instants.push(instant)
  }
  return instants
}

/** The beginning is enough to find it. */
const MOST_SHOWN = 40

function quoted(word: string): string {
  return JSON.stringify(word.length > MOST_SHOWN ? `${word.slice(0, MOST_SHOWN)}…` : word)
}
