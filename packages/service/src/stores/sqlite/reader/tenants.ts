import { laneOf } from '../../../task/lane.ts'
import type { Connection } from '../file/connection.ts'

/** The tenants that have a lane, in order of name: a step for each, however many lanes it has. */
export type Tenants = (behind?: string) => Generator<string>

export function createTenants(connection: Connection): Tenants {
  const readNext = connection.row<[lane: string]>('select key from lane where key > ? order by key limit 1')
  return function* tenants(behind = '') {
    for (let next = readNext(behind); next !== undefined;) {
      const { tenant } = laneOf(next[0])
      yield tenant
      next = readNext(behindLanesOf(tenant))
    }
  }
}

/** A tenant's lanes begin with its name and a space; "!" is the character behind that. */
export function behindLanesOf(tenant: string): string {
  return `${tenant}!`
}
