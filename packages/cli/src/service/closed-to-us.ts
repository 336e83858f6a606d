/** A data directory belongs to whoever runs the service: others are told who that is, and not how to take it away. */
import { accessSync, readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { quoted } from '../input/typed.ts'

export interface Closed {
  /** What is closed: the path, or a directory on the way to it. */
  readonly place: string
  /** Whose it is; by number where it has no name here. */
  readonly owner: string
  /** A line, run as the owner. */
  readonly asOwner: (line: string) => string
}

/** Undefined for what whoever runs this program may use in this `mode`, for what is not there, and where owners have no number. */
export function closedToUs(given: string, mode: number): Closed | undefined {
  const path = resolve(given)
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES' || process.getuid === undefined) return undefined
  }
  const { place, uid } = nearestSeen(path)
  // The owner of a mode that shuts out its owner can open it.
  if (uid === process.getuid())
    return { place, owner: 'you', asOwner: line => `chmod u+rwX ${quoted(place)} && ${line}` }
  const name = nameOf(uid)
  return { place, owner: name ?? `user ${uid}`, asOwner: line => `sudo -u ${name ?? `'#${uid}'`} ${line}` }
}

/** What stands below a directory that may not be entered cannot be looked at: whoever has that one decides. */
function nearestSeen(path: string): { readonly place: string; readonly uid: number } {
  try {
    return { place: path, uid: statSync(path).uid }
  } catch (error) {
    if (dirname(path) === path) throw error
    return nearestSeen(dirname(path))
  }
}

/** As the machine's own list of users has it (passwd(5)); those of a directory service have only their number here. */
function nameOf(uid: number): string | undefined {
  try {
    const users = readFileSync('/etc/passwd', 'utf8').split('\n')
    return users.map(user => user.split(':')).find(([, , number]) => number === String(uid))?.[0]
  } catch {
    return undefined
  }
}
