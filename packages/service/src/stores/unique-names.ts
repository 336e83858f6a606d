/**
 * Names that only one record of a kind and tenant may have. Each is a record of its own, written and removed in the same
 * call as the record that has the name.
 */
import type { RecordName, RecordWrite } from './store.ts'

type Owner = RecordName & Pick<RecordWrite, 'tenant'>

/** The write conflicts where another record has the name. */
export function takeName(owner: Owner, name: string): RecordWrite {
  return { ...nameRecord(owner, name), document: { owner: owner.id }, ifVersion: 0 }
}

export function freeName(owner: Owner, name: string): RecordWrite {
  return { ...nameRecord(owner, name), document: null }
}

/** The id of the record that has the name. */
export interface NameDocument {
  readonly owner: string
}

function nameRecord({ kind, tenant }: Owner, name: string): Owner {
  return { kind: 'name', id: `${kind}\n${tenant}\n${name}`, tenant }
}
