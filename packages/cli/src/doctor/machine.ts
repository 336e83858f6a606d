import type { ServiceConfig } from '@secondwind/service/config'
import { readFileSync } from 'node:fs'
import { bad, ok, warn, type Finding } from './finding.ts'

const OLDEST_NODE = 24

/** Files of the store, listeners, and what the system itself keeps open. */
const OTHER_DESCRIPTORS = 200

/** What the machine gives to a service that is started as this program was. */
export function checkMachine(config: Pick<ServiceConfig, 'concurrency'> | undefined): readonly Finding[] {
  const limit = config && descriptorLimit()
  return [checkNode(process.versions.node), ...(limit ? [checkDescriptors(limit, config.concurrency)] : [])]
}

function checkNode(version: string): Finding {
  return Number.parseInt(version, 10) >= OLDEST_NODE
    ? ok('node', `This is Node ${version}.`)
    : bad('node', `This is Node ${version}; the service needs ${OLDEST_NODE}.`, `install Node ${OLDEST_NODE} or newer`)
}

/** A socket for each request under way, and one for whoever handed it over. */
export function checkDescriptors(limit: number, concurrency: number): Finding {
  const needed = 2 * concurrency + OTHER_DESCRIPTORS
  const say = `${limit} files and sockets may be open; ${concurrency} requests at once need some ${needed}.`
  if (limit >= needed) return ok('descriptors', say)
  const next = `ulimit -n ${needed}, or a smaller --concurrency`
  return limit < concurrency ? bad('descriptors', say, next) : warn('descriptors', say, next)
}

/** Only Linux tells; what is unlimited is no number, and enough. */
function descriptorLimit(): number | undefined {
  try {
    const limit = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(limit ?? Number.NaN) || undefined
  } catch {
    return undefined
  }
}
